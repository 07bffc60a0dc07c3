"""The rules by which a search ranks its trials, as JSON values, for `analysis.search`."""

from typing import NotRequired, TypedDict, cast

from eflops.config.data import DataSettings
from eflops.config.models import Dataset, Search, data_settings
from eflops.rng import numpy_generator


class Admit(TypedDict):
    """The conditions on a trial (`config.models.Admission`)."""

    open_gates: float | None
    sent: dict[str, float]


class Ranking(TypedDict):
    """The rules of a search's ranking; `metric` to `entry` are those of the config.

    searched: by method, the searched settings. budget: by crossed method, the variants that it may choose from.
    profile: the settings that are drawn or crossed, if the best at each temperature is wanted, else none. data: the
    settings of the data, if their genes are looked up.
    """

    metric: str
    score: str
    admit: Admit
    nearest: str | None
    by_bytes: dict[str, float]
    entry: str
    searched: dict[str, list[str]]
    budget: dict[str, list[str]]
    profile: list[str]
    data: NotRequired[DataSettings]


def ranking(search: Search, dataset: Dataset) -> Ranking:
    """The rules of a search's ranking.

    dataset: the entry of its data, in which the paper's genes are looked up.
    """
    rules = search.model_dump(mode="json", include={"metric", "score", "admit", "nearest", "by_bytes"})
    searched = {
        name: [*search.settings, *search.ranges, *search.method_ranges.get(name, {}), *search.cross.get(name, {})]
        for name in search.methods
    }
    data = {"data": data_settings(dataset)} if search.nearest == "gene_frequency" else {}
    budget = {method: budget_of(search, method) for method in search.cross if method in search.methods}
    crossed = [name for name in budget if "temperature" in search.cross[name]]
    profile = [key for name in crossed for key in searched[name] if key not in search.settings]
    more = {"entry": search.entry, "searched": searched, "budget": budget, "profile": profile, **data}
    return cast(Ranking, {**rules, **more})


def budget_of(search: Search, method: str) -> list[str]:
    """One variant of each trial of a crossed method, drawn by address, so every method has the same budget.

    A method whose settings are crossed with five temperatures has five times the trials. The best of five times as
    many trials could beat another method by the number of trials alone.
    """
    return [
        ",".join(
            [
                f"trial{trial:02d}",
                *(
                    f"{key}={values[int(numpy_generator(trial, f'search/{key}').integers(len(values)))]}"
                    for key, values in sorted(search.cross[method].items(), reverse=True)
                ),
            ]
        )
        for trial in range(search.trials)
    ]
