"""Whether the files that a config names fit its entries: what `eflops check` says of them."""

from eflops.config.models import Config, Expression
from eflops.data import expression


def problems(config: Config) -> list[str]:
    """What does not fit, a sentence each, in the splits that experiments use."""
    found = []
    for name, entry in config.datasets.items():
        if isinstance(entry, Expression):
            used = [experiment.draws for experiment in config.experiments.values() if experiment.dataset == name]
            draws = sorted({draw for some in used for draw in some})
            sentences = expression.problems(entry.model_dump(), draws)
            found += [f"datasets.{name}: {sentence}" for sentence in sentences]
    return found
