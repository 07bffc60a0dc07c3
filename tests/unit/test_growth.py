"""Every step of a study grows linearly with its runs: plan, train, gather, audit, explorer."""

from pathlib import Path

import pytest

from growing import steps

SIZES = (750, 1500, 3000)
# Of linear growth over the whole range; a quadratic step would have SIZES[-1] / SIZES[0].
MOST = 1.7
# Seconds below which a step's fixed costs decide.
NEGLIGIBLE = 2.0


@pytest.mark.slow
def test_every_step_grows_linearly_with_the_cases(tmp_path: Path) -> None:
    steps(tmp_path / "first", 10)  # compiled code and imports
    taken = {size: steps(tmp_path / str(size), size) for size in SIZES}
    print(
        "\n".join(f"{size} cases: {[(name, round(s, 2)) for name, s in each.items()]}" for size, each in taken.items())
    )
    for name, last in taken[SIZES[-1]].items():
        linear = taken[SIZES[0]][name] * SIZES[-1] / SIZES[0]
        assert last < max(MOST * linear, NEGLIGIBLE), f"{name}: {last:.1f} s, and linear growth gives {linear:.1f} s"
