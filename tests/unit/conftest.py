"""The small problems as fixtures."""

import pytest

from eflops.data.build import build
from eflops.data.federation import Federation
from small_problems import GOLUB, SYNTHETIC


@pytest.fixture(scope="session")
def synthetic() -> Federation:
    """A small sparse regression over four clients."""
    return build(SYNTHETIC, 1.2, 0)


@pytest.fixture(scope="session")
def golub() -> Federation:
    """The leukaemia data over five clients."""
    return build(GOLUB, None, 0)
