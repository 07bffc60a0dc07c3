"""A figure in four forms, byte-identical when made again: SVG, PDF, PNG, and the plotted numbers as CSV."""

import io
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import matplotlib.figure
import pandas as pd

from eflops.files import sha256_bytes, write_bytes, write_text

matplotlib.use("Agg")
matplotlib.rcParams.update(
    {
        "svg.hashsalt": "eflops",
        "svg.fonttype": "none",
        "pdf.fonttype": 42,
        "font.size": 8,
        "axes.titlesize": 8,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
        "legend.fontsize": 7,
        "figure.constrained_layout.use": True,
        "savefig.dpi": 200,
    }
)

# Okabe and Ito's palette, safe for colour-blind readers; a method has the same colour and marker in every figure.
STYLES = {
    "eflops": ("#D55E00", "o"),
    "flops": ("#E69F00", "s"),
    "fediht": ("#0072B2", "^"),
    "fediterht": ("#56B4E9", "v"),
    "fedavg": ("#009E73", "D"),
    "centralized": ("#000000", "P"),
}
SPARE = (("#CC79A7", "X"), ("#7F7F7F", "*"))


def style(method: str) -> tuple[str, str]:
    """The colour and marker of a method; a method of one's own gets one of the spare ones, by its name."""
    return STYLES.get(method) or SPARE[sum(map(ord, method)) % len(SPARE)]


@dataclass(frozen=True)
class Figure:
    """A drawn figure and the numbers in it."""

    drawing: matplotlib.figure.Figure
    data: pd.DataFrame

    def __post_init__(self) -> None:
        """Lay the axes out once and round where they stand: the solver's last digits change from run to run."""
        self.drawing.draw_without_rendering()
        places = [(axes, axes.get_position(original=True).bounds) for axes in self.drawing.axes]
        self.drawing.set_layout_engine("none")
        for axes, bounds in places:
            left, bottom, width, height = (round(number, 4) for number in bounds)
            axes.set_position((left, bottom, width, height))

    @property
    def data_hash(self) -> str:
        """The hash of the plotted numbers, which every picture carries in its metadata."""
        return sha256_bytes(self.data.to_csv(index=False).encode())

    def write(self, path: Path) -> None:
        """Write the form that the file's ending names."""
        if path.suffix == ".csv":
            write_text(path, self.data.to_csv(index=False))
            return
        metadata = {
            ".svg": {"Date": None, "Description": f"data sha256 {self.data_hash}"},
            ".pdf": {"CreationDate": None, "Subject": f"data sha256 {self.data_hash}"},
            ".png": {"Description": f"data sha256 {self.data_hash}"},
        }[path.suffix]
        buffer = io.BytesIO()
        self.drawing.savefig(buffer, format=path.suffix[1:], metadata=metadata)
        write_bytes(path, buffer.getvalue())
