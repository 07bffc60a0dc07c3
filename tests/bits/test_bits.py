"""The same bits on processors that are not at hand: as machine code for another one, and on emulated ones.

Compiling under emulation would take minutes, so the code for the emulated processors, which have AVX2 and no AVX-512,
is compiled natively first; all of it is executed by the emulated processor, as is numpy's and torch's own.

The compiler would choose vectors of 256 bits for nearly every processor, AVX-512 or not, and a sum that it may reorder
would have the same wrong order on all of them. So the code for the emulated processors has vectors of 128 bits.
"""

import shutil

import pytest

from bits.processes import OWN_PYTHON, differing, hashes, start

pytestmark = pytest.mark.bits

EMULATED = ("Haswell", "EPYC-Milan")
FEATURES = ",".join(
    f"+{name}"
    for name in (
        "64bit", "avx", "avx2", "bmi", "bmi2", "cmov", "cx16", "cx8", "f16c", "fma", "fxsr", "lzcnt", "mmx", "movbe",
        "popcnt", "prefer-128-bit", "sahf", "sse", "sse2", "sse3", "sse4.1", "sse4.2", "ssse3",
    )
)  # fmt: skip


@pytest.fixture(scope="module")
def for_haswell(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What makes numba compile for a Haswell, and where it keeps that code."""
    cache = tmp_path_factory.mktemp("machine-code")
    return {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": FEATURES, "NUMBA_CACHE_DIR": str(cache)}


@pytest.fixture(scope="module")
def own_and_foreign(for_haswell: dict[str, str]) -> list[dict[str, str]]:
    """The hashes on the processor at hand, with machine code for it and for a Haswell; both are compiled at once."""
    return [hashes(process) for process in [start(), start(**for_haswell)]]


def test_machine_code_for_another_processor_has_the_same_results(own_and_foreign: list[dict[str, str]]) -> None:
    native, foreign = own_and_foreign
    assert differing(native, foreign) == []


def test_emulated_processors_have_the_same_results(
    own_and_foreign: list[dict[str, str]], for_haswell: dict[str, str]
) -> None:
    emulator = shutil.which("qemu-x86_64")
    if emulator is None:
        pytest.skip("qemu-x86_64 is not installed (Debian package qemu-user)")
    processes = {model: start((emulator, "-cpu", model, *OWN_PYTHON), **for_haswell) for model in EMULATED}
    differences = {model: differing(own_and_foreign[0], hashes(process)) for model, process in processes.items()}
    assert differences == {model: [] for model in EMULATED}
