"""Dealing a draw out: every node gets its own client's block, the server the manifest and the test block."""

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from eflops.data.federation import MANIFEST, Federation, save

# All that a model must know of the data besides their rows; the rest could tell one client of another.
COMMON = ("task", "classes")


def deal(federation: Federation, settings: Mapping[str, Any], server: Path, name: Path, nodes: list[Path]) -> None:
    """Write each client's block below its node's folder, and below the server's the test block and data/`name`."""
    public = replace(federation, meta={key: federation.meta[key] for key in COMMON if key in federation.meta})
    with tempfile.TemporaryDirectory() as folder:
        save(public, Path(folder), settings)
        (server / "data" / name).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(Path(folder) / MANIFEST, server / "data" / name / MANIFEST)
    save(replace(public, clients=(), meta={**public.meta, "client_ids": []}), server / "test", settings)
    for client, node in enumerate(nodes):
        own = replace(public.subset([client], with_test=False), truth={})
        save(own, node / "data", settings)
