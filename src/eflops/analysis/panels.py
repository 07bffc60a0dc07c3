"""What the panels of one figure share."""

from matplotlib.axes import Axes


def letter(axes: Axes, name: str) -> None:
    """The panel's letter, above its upper left corner."""
    axes.set_title(f"({name})", loc="left", fontweight="bold")
