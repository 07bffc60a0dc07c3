"""The small study that tests of provenance read, made once a session; tests that change it get a copy."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from eflops import trust
from shared import made_once

# The first call of a compiled function takes as long as its compilation.
hypothesis.settings.register_profile("eflops", deadline=None)
hypothesis.settings.load_profile("eflops")


@pytest.fixture(autouse=True, scope="module")
def _training_leaves_no_trace() -> Iterator[None]:
    """Training switches denormals and gradients off for the whole process; tests of other files may need them.

    Flower's simulation sets PYTHONPATH to all that this process can import; programs started later would find it.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
        yield
    if torch := sys.modules.get("torch"):
        torch.set_flush_denormal(False)
        torch.set_grad_enabled(True)


@pytest.fixture(autouse=True)
def _trust_ends_with_the_test() -> Iterator[None]:
    """Each test trusts the package alone, whatever fixtures of its file or session let in before."""
    with trust.session():
        yield


@pytest.fixture(scope="session")
def small_results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder with everything in it: not to be changed."""
    import small_results

    return made_once(tmp_path_factory, "small/results", small_results.make)


@pytest.fixture
def results(small_results: Path, tmp_path: Path) -> Path:
    """A copy of the small results, to be changed at will."""
    return Path(shutil.copytree(small_results, tmp_path / "results"))


@pytest.fixture(scope="session")
def small_published(small_results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small results as they would be tracked: not to be changed."""
    from eflops.provenance.publish import publish

    return made_once(tmp_path_factory, "small/published", lambda folder: publish(small_results, folder))


@pytest.fixture
def published(small_published: Path, tmp_path: Path) -> Path:
    """A copy of the small published results, to be changed at will."""
    return Path(shutil.copytree(small_published, tmp_path / "published"))
