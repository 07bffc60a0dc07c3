"""The same bits on 64-bit ARM: an ARM Python on an emulated processor, which compiles for itself.

The first run downloads 260 MB and compiles under emulation; later ones find both in the user's cache.
"""

import pytest

from bits.arm64 import Unavailable, python
from bits.processes import differing, hashes, start

pytestmark = pytest.mark.arm


def test_an_arm_processor_has_the_same_results() -> None:
    try:
        command, environment = python()
    except Unavailable as reason:
        pytest.skip(str(reason))
    native, arm = start(), start(command, **environment)
    assert differing(hashes(native), hashes(arm)) == []
