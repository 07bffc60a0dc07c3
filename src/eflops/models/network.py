"""The paper's CNN as a list of stages: which weights there are and where they lie. Loads no torch."""

from dataclasses import dataclass
from math import prod

from eflops.errors import UserError

KERNEL = 5
POOL = 2
CHANNELS = (6, 16)
WIDTHS = (120, 84)


@dataclass(frozen=True)
class Stage:
    """A layer of units: weights [units, sources, taps] from `start` on, then a bias a unit.

    sources: units of the stage before (or input channels); taps: weights between a pair of units; positions: how often
    each weight is used in one prediction.
    """

    name: str
    start: int
    units: int
    sources: int
    taps: int
    positions: int

    @property
    def weights(self) -> slice:
        """Where the weights lie in the flat parameter vector."""
        return slice(self.start, self.start + self.units * self.sources * self.taps)

    @property
    def biases(self) -> slice:
        """Where the biases lie, behind the weights."""
        return slice(self.weights.stop, self.weights.stop + self.units)

    @property
    def stop(self) -> int:
        """The end of the stage's parameters."""
        return self.biases.stop


def cnn_stages(shape: tuple[int, ...], classes: int) -> tuple[Stage, ...]:
    """The stages for images [channels, height, width]: two pooled convolutions and three dense layers.

    With images [1, 28, 28] and 10 classes these are the paper's 44,426 parameters.
    """
    stages: list[Stage] = []

    def add(name: str, units: int, sources: int, taps: int, positions: int) -> None:
        stages.append(Stage(name, stages[-1].stop if stages else 0, units, sources, taps, positions))

    sources, *sides = shape
    for index, units in enumerate(CHANNELS, 1):
        sides = [side - KERNEL + 1 for side in sides]
        if any(side < POOL or side % POOL for side in sides):
            raise UserError(
                f"the cnn cannot take images of {shape[1]} x {shape[2]} pixels: after each {KERNEL} x {KERNEL}"
                f" convolution both sides must be even and at least {POOL}, as for 28 x 28 pixels"
            )
        add(f"conv{index}", units, sources, KERNEL**2, prod(sides))
        sides, sources = [side // POOL for side in sides], units
    taps = prod(sides)
    for index, units in enumerate((*WIDTHS, classes), 1):
        add(f"dense{index}", units, sources, taps, 1)
        sources, taps = units, 1
    return tuple(stages)
