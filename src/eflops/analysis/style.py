"""How every figure looks: sizes and fonts, the colours and markers of methods and metrics, and those of verdicts."""

from typing import Any

# What Matplotlib gets for every figure.
PAGE: Any = {
    "svg.hashsalt": "eflops",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 7,
    "savefig.dpi": 200,
}
# What a notebook sets for itself, and no picture depends on.
INTERACTIVE = ("backend", "interactive", "toolbar", "figure.max_open_warning", "webagg")
# Okabe and Ito's palette, safe for colour-blind readers; a method has the same colour and marker in every figure.
STYLES = {
    "eflops": ("#D55E00", "o"),
    "flops": ("#E69F00", "s"),
    "eflops_t0": ("#A6761D", "*"),
    "fediht": ("#0072B2", "^"),
    "fediterht": ("#56B4E9", "v"),
    "fedavg": ("#009E73", "D"),
    "feddualavg": ("#CC79A7", "X"),
    "centralized": ("#000000", "P"),
    "eflops_feedback": ("#8C3B00", "h"),
    "flops_feedback": ("#8A6500", "p"),
    "fedavg_feedback": ("#00543D", "d"),
}
SPARE = (("#CC79A7", "X"), ("#7F7F7F", "*"))
# Metrics side by side: dark and light, which differ without colour as well; no method's colours.
METRIC_STYLES = {"support_recovery": ("#4D4D4D", "o"), "r2": ("#CC79A7", "s")}
METRIC_AXES = {"support_recovery": "support recovery", "r2": "test $R^2$", "accuracy": "test accuracy"}
# A verdict's colour and ink. The colours are those of the explorer and differ in lightness too.
VERDICTS = {
    "agrees": ("#004488", "w"),
    "agrees at nearest settings": ("#6699CC", "k"),
    "differs": ("#BB5566", "w"),
    "inconclusive": ("#EECC66", "k"),
    "not judged": ("#D8DEE4", "k"),
}


def style(method: str) -> tuple[str, str]:
    """The colour and marker of a method; a custom method gets one of the spare ones, chosen by its name."""
    return STYLES.get(method) or SPARE[sum(map(ord, method)) % len(SPARE)]
