"""Figure 1: test R2 over rounds, N/d and learning rates."""

from collections.abc import Callable

from matplotlib.axes import Axes

from eflops.analysis.figure import Figure, Panel, four_panels
from eflops.analysis.lines import band, draw_bands, draw_points, limits
from eflops.analysis.source import Source
from eflops.analysis.stats.summary import INTERVAL, SUMMARY, summarise, units_named, with_interval

METRIC = "r2"
RATIO = 0.64
KEYS = ["panel", "method", "ratio", "phase", "round", "set_rate", "set_gate_rate"]
COLUMNS = [*KEYS, *SUMMARY, *INTERVAL]
SYMBOLS = {"set_rate": r"\eta_\theta", "set_gate_rate": r"\eta_\phi"}


def over_rounds(source: Source) -> Panel:
    """Test R2 over rounds at one N/d."""
    curves = source.curves("curves")
    nearest = min(curves["ratio"].unique(), key=lambda ratio: abs(ratio - RATIO))
    curves = curves[curves["ratio"] == nearest]
    data = band(curves, METRIC)

    def draw(axes: Axes) -> None:
        draw_bands(axes, data, source)
        # The first rounds of a method may be far worse than no fit; what counts is above.
        axes.set_ylim(*limits(data))
        title = f"$N/d = {nearest:g}$, mean ± sd of {data['n'].max()} run seeds"
        axes.set(xlabel="round", ylabel="test $R^2$", title=title)

    return Panel(data.assign(ratio=nearest)[["ratio", *data.columns]], curves, draw, METRIC)


def over_ratios(source: Source) -> Panel:
    """Test R2 over N/d."""
    runs = source.runs("support_recovery")
    data = with_interval(summarise(runs, METRIC, ["method", "ratio"]))

    def draw(axes: Axes) -> None:
        draw_points(axes, data, "ratio", source)
        axes.set(xlabel="$N/d$", ylabel="test $R^2$", title=f"mean, 95 % interval over {units_named(runs)}")

    return Panel(data, runs, draw, METRIC)


def over_rates(source: Source, experiment: str, rate: str, fixed: str) -> Panel:
    """Test R2 over a learning rate, the other one fixed."""
    runs = source.runs(experiment)
    data = summarise(runs, METRIC, ["method", rate])
    words = f"$N/d = {runs['ratio'].iloc[0]:g}$, ± sd of {units_named(runs)}"
    title = rf"${SYMBOLS[fixed]} = {runs[fixed].iloc[0]:g}$, {words}"

    def draw(axes: Axes) -> None:
        draw_points(axes, data, rate, source)
        values = data[rate].unique()
        margin = 0.06 * (values.max() - values.min()) or 0.1 * values.max()
        axes.set(ylabel="test $R^2$", xlim=(values.min() - margin, values.max() + margin))
        axes.set(xlabel=f"${SYMBOLS[rate]}$", title=title)

    return Panel(data, runs, draw, METRIC)


PANELS: dict[str, Callable[[Source], Panel]] = {
    "a": over_rounds,
    "b": over_ratios,
    "c": lambda source: over_rates(source, "rates_theta", "set_rate", "set_gate_rate"),
    "d": lambda source: over_rates(source, "rates_phi", "set_gate_rate", "set_rate"),
}


def panel(source: Source, panel: str) -> Figure:
    """A panel of Figure 1 on its own: test R2 over rounds, N/d or a learning rate."""
    return PANELS[panel](source).alone(source, columns=2 if panel in "cd" else 3)


def make(source: Source) -> Figure:
    """The four panels with their letters and one legend."""
    return four_panels({name: made(source) for name, made in PANELS.items()}, source, COLUMNS, METRIC)
