"""The Flower engine: the same rounds and methods on Flower's simulation of a federation."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eflops.training.rounds import Connect


def run(job: Any, work: "Callable[[Connect, int], None]") -> None:
    """Do `work` inside a simulation of the job's clients, one run after the other, as on a real federation."""
    from eflops.flower import simulation

    simulation.run(job, work)
