"""The ways to cut that the experiment `mnist_cut` compares: how they are called and drawn."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A way to cut in words, and its marker."""

    words: str
    marker: str


CASES = {
    "start": Case("cut from the first round", "v"),
    "quarter": Case("from a quarter of the rounds", "<"),
    "half": Case("from half of them", "^"),
    "three_quarters": Case("from three quarters", ">"),
    "floor": Case("from the first, with a floor in every layer", "s"),
    "shrinking": Case("shrinking step by step", "o"),
    "lean": Case("shrinking fast, floor, 12 steps", "*"),
    "end": Case("at the end", "D"),
}
