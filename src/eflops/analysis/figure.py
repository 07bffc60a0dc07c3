"""A figure in four forms, byte-identical when rebuilt: SVG, PDF, PNG, and the plotted numbers as CSV.

Matplotlib is imported only when something is drawn, so tables do not need it.
"""

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from eflops.analysis.source import Source
from eflops.analysis.style import INTERACTIVE, PAGE, style
from eflops.files import sha256_bytes, write_bytes, write_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure as Drawing
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
else:
    Axes = Drawing = Line2D = Patch = Any


@dataclass(frozen=True)
class Figure:
    """The return value of a figure's function.

    Args:
        data: the plotted numbers, one row per point; it becomes the CSV file.
        runs: the rows that `data` summarises, one per run (and round, ...), for `eflops explain`.
        paint: returns the drawing; it is called only when a picture is written.
        metric: the column of `runs` that the numbers summarise, unless a key `metric` of `data` names it.

    Example:
        def make(source: Source) -> Figure:
            runs = source.runs(source.experiment)
            def paint():
                drawing, axes = canvas()
                axes.plot(runs["seed"], runs["accuracy"], "o")
                return drawing
            return Figure(runs[["method", "seed", "accuracy"]], runs, paint)
    """

    data: pd.DataFrame
    runs: pd.DataFrame
    paint: Callable[[], Drawing]
    metric: str = ""

    @cached_property
    def drawing(self) -> Drawing:
        """The picture, with its layout rounded to a grid, because the layout solver's last digits vary."""
        drawing = self.paint()
        layout = drawing.get_layout_engine()
        if layout:
            layout.execute(drawing)
        positions = [(axes, axes.get_position(original=True).bounds) for axes in drawing.axes]
        # With a layout engine, even an empty one, each form would be drawn twice.
        drawing.set_layout_engine(None)
        for axes, bounds in positions:
            left, bottom, width, height = (round(number, 4) for number in bounds)
            axes.set_position((left, bottom, width, height))
        return drawing

    @property
    def data_hash(self) -> str:
        """The hash of the plotted numbers, which every picture carries in its metadata."""
        return sha256_bytes(self.data.to_csv(index=False).encode())

    def write(self, path: Path, data_hash: str | None = None) -> None:
        """Write the form that the file's suffix names; data_hash: defaults to the hash of the plotted numbers."""
        if path.suffix == ".csv":
            write_text(path, self.data.to_csv(index=False))
            return
        description = f"data sha256 {data_hash or self.data_hash}"
        metadata = {
            ".svg": {"Date": None, "Description": description},
            ".pdf": {"CreationDate": None, "Subject": description},
            ".png": {"Description": description},
        }[path.suffix]
        buffer = io.BytesIO()
        self.drawing.savefig(buffer, format=path.suffix[1:], metadata=metadata)
        write_bytes(path, buffer.getvalue())


@dataclass(frozen=True)
class Panel:
    """A part of a figure: the plotted numbers, the runs that they summarise, and how they are drawn on its axes."""

    data: pd.DataFrame
    runs: pd.DataFrame
    draw: Callable[..., None]
    metric: str = ""

    def alone(self, source: Source, columns: int = 3, size: tuple[float, float] = (3.5, 3.0)) -> Figure:
        """The panel as a separate figure, with a legend of the methods below it unless the panel names them."""

        def paint() -> Drawing:
            drawing, axes = canvas(size=size)
            self.draw(axes)
            if columns:
                method_legend(drawing, self.data["method"], source, columns)
            return drawing

        return Figure(self.data, self.runs, paint, self.metric)


def four_panels(panels: Mapping[str, Panel], source: Source, columns: Sequence[str], metric: str = "") -> Figure:
    """Four panels with their letters and one legend; columns: the columns of the plotted numbers, panel by panel."""
    named = {name: {"panel": name} | ({"metric": part.metric} if part.metric else {}) for name, part in panels.items()}
    data = pd.concat([part.data.assign(**named[name]) for name, part in panels.items()], ignore_index=True)
    runs = pd.concat([part.runs.assign(panel=name) for name, part in panels.items()], ignore_index=True)

    def paint() -> Drawing:
        drawing, axes = canvas(2, 2, size=(7.0, 5.4))
        for panel, (name, part) in zip(axes.flat, panels.items(), strict=True):
            part.draw(panel)
            letter(panel, name)
        method_legend(drawing, data["method"].unique(), source, columns=6)
        return drawing

    return Figure(data.reindex(columns=columns), runs, paint, metric)


def canvas(rows: int = 1, columns: int = 1, size: tuple[float, float] = (3.5, 2.8), **options: Any) -> tuple[Any, Any]:
    """An empty figure and its axes."""
    from matplotlib import figure, rcParams, rcParamsDefault

    # Not what a file matplotlibrc says, of the user or in the working folder: it would change pictures, or start LaTeX.
    defaults = {name: value for name, value in rcParamsDefault.items() if not name.startswith(INTERACTIVE)}
    rcParams.update(defaults | PAGE)
    drawing = figure.Figure(figsize=size, layout="constrained")
    return drawing, drawing.subplots(rows, columns, **options)


def sentence(text: str) -> Drawing:
    """A figure that holds only a sentence, for a figure without data."""
    drawing, axes = canvas()
    write_sentence(axes, text)
    return drawing


def write_sentence(axes: Axes, text: str) -> None:
    """Write a sentence on empty axes that have nothing to draw."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, text, ha="center", va="center", transform=axes.transAxes, wrap=True)


def letter(axes: Axes, name: str) -> None:
    """The panel's letter, above its upper left corner."""
    axes.set_title(f"({name})", loc="left", fontweight="bold")


def name_bars(axes: Axes, names: Iterable[str]) -> None:
    """Write names below bars or columns of points, with a line break after the first word."""
    words = [name.replace(" ", "\n", 1) for name in names]
    axes.set_xticks(range(len(words)), words)
    axes.tick_params(axis="x", length=0, labelsize=6.5)


def log_scale(
    axes: Axes, axis: Literal["x", "y"], form: str = "{:g}", steps: Sequence[float] = (1.0, 2.0, 5.0)
) -> None:
    """A log scale whose ticks are plain numbers, at these multiples of each power of ten."""
    from matplotlib.ticker import LogLocator, NullFormatter

    (axes.set_xscale if axis == "x" else axes.set_yscale)("log")
    shown = axes.xaxis if axis == "x" else axes.yaxis
    shown.set_major_locator(LogLocator(subs=steps))
    shown.set_major_formatter(lambda value, _: form.format(value))
    shown.set_minor_formatter(NullFormatter())


def method_legend(drawing: Drawing, methods: Iterable[str], source: Source, columns: int) -> None:
    """One legend below the whole figure: a line, its colour and its marker stand for a method in every panel."""
    lines = []
    for method in source.order(methods):
        colour, marker = style(method)
        lines.append(line_key(source.labels[method], color=colour, marker=marker, markersize=3.5, linewidth=1.2))
    if lines:
        drawing.legend(handles=lines, loc="outside lower center", ncols=columns)


def line_key(label: str, **look: Any) -> Line2D:
    """A legend entry for a line or a marker."""
    from matplotlib import lines

    return lines.Line2D([], [], label=label, **look)


def patch_key(label: str = "", **look: Any) -> Patch:
    """A legend entry for a filled area."""
    from matplotlib import patches

    return patches.Patch(label=label, **look)
