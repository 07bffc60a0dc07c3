"""Every method on every model, tiny, and every kind of data: a hash of each result as JSON on the standard output.

Run by `test_bits.py` on the processor at hand, with machine code for another one, and on emulated processors.
"""

import json
from collections.abc import Iterator
from typing import Any

from eflops.data.build import build
from eflops.data.federation import Federation
from eflops.files import sha256_bytes
from eflops.results.record import result_hash
from small_problems import GATED, GOLUB, METHODS, SYNTHETIC, random_images, train_results

SETTINGS: dict[str, Any] = {"rounds": 3, "finetune_rounds": 1, "local_steps": 2, "prune_from": 0.5, "clip": 5.0}
# What the methods' own settings leave out: other recovery, prior and gates, mini-batches, more samples, a floor.
OTHER = {"batch_size": 5, "layer_floor": 0.02, "keep_schedule": "shrinking"}
OTHER_GATES = {"gate_recovery": "paper", "prior": "init", "gate": "louizos", "samples": 2, "temperature_decay": 0.9}


def data_hash(federation: Federation) -> str:
    """A hash of all blocks."""
    blocks = (*federation.clients, federation.test)
    return sha256_bytes(b"".join(part.tobytes() for block in blocks for part in (block.x, block.y)))


def hashes() -> Iterator[tuple[str, str]]:
    """The hash of every data set and of every run, by its name."""
    data = {
        "linear": build({**SYNTHETIC, "features": 70}, 0.9, 0),
        "softmax": build(GOLUB, None, 0),
        "cnn": random_images(),
    }
    for name, federation in data.items():
        yield f"{name} data", data_hash(federation)
    for scaling, log in (("per_gene", True), ("per_array", True), ("per_array", False)):
        yield f"golub {scaling} {log}", data_hash(build({**GOLUB, "scaling": scaling, "log": log}, None, 1))
    for model, federation in data.items():
        for name in METHODS:
            gated = OTHER_GATES if name in GATED else {}
            for variant, changes in (("own", {}), ("other", {**OTHER, **gated})):
                results = train_results(federation, model, name, [1, 2], **{**SETTINGS, **changes})
                yield f"{name} on {model}, {variant} settings", " ".join(map(result_hash, results))


if __name__ == "__main__":
    print(json.dumps(dict(hashes())))
