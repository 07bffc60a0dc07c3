"""Checks across config entries: names that must exist, settings that a method must have."""

import math
from collections.abc import Iterable, Iterator, Mapping

from pydantic import ValidationError

from eflops.config import custom
from eflops.config.messages import sentences, shown, unknown
from eflops.config.models import (
    Config,
    Experiment,
    Expression,
    Interval,
    Range,
    Search,
    Synthetic,
    Table,
    entry_of,
    model_of,
)
from eflops.config.plan import layers
from eflops.config.products import Product, general_entries, general_products, project_entries
from eflops.config.settings import settings_class

# Of two keys for one thing, an entry has one.
EITHER = (
    *(("clients_by", "clients"), ("sites", "clients")),
    *(("test_rows", "test_share"), ("genes_per_class", "density"), ("keep", "density")),
)


# The rules of the workflow besides those of data sets: a target is a rule too.
RULES = {
    *("explorer", "fetch", "figure", "figures", "gather", "genes", "rank", "references", "scorecard", "search"),
    *("smoke", "study", "summary", "table", "tables", "test_features", "train"),
}
# What a run of each built-in model can be ranked by.
METRICS = {"linear": ("r2",), "softmax": ("accuracy", "cross_entropy"), "cnn": ("accuracy", "cross_entropy")}
LONGEST_LABEL = 200
MOST_VARIANTS = 100_000


def mistakes(config: Config, files: bool = True) -> Iterator[str]:
    """Every mistake as a sentence that starts with its key.

    files: whether the files of custom code must be here; someone else's results can be read without them.
    """
    if not config.experiments and not config.searches:
        yield "experiments: missing; define at least one."
    for name in config.searches.keys() & config.experiments.keys():
        yield f"searches.{name}: an experiment has the same name, and both store records under it; rename one."
    yield from _dataset_mistakes(config)
    yield from _model_mistakes(config)
    if files:
        yield from _file_mistakes(config)
    methods = [*_method_mistakes(config, files)]
    yield from methods
    if any(mistake.partition(": ")[0].endswith(".method") for mistake in methods):
        return  # what a setting may be depends on the method
    for find in (_chosen_mistakes, _experiment_mistakes, _search_mistakes):
        yield from find(config)
    yield from _product_mistakes(config, files)


def _settings_mistakes(config: Config, method: str, values: Mapping[str, object], key_path: str) -> Iterator[str]:
    """Mistakes in a part of a method's settings; every setting has a default, so a part can be checked alone."""
    model = settings_class(config.methods[method].method)
    try:
        model.model_validate(dict(values))
    except ValidationError as error:
        yield from sentences(error, values, model, key_path)


def _dataset_mistakes(config: Config) -> Iterator[str]:
    for name, entry in config.datasets.items():
        key_path = f"datasets.{name}"
        if entry.settings_like and entry.settings_like not in config.datasets:
            yield unknown(f"{key_path}.settings_like", entry.settings_like, config.datasets)
        if isinstance(entry, Synthetic) and entry.density * entry.features < 1 - 1e-9:
            right = f"with {entry.features} features it should be at least {1 / entry.features:.3g}"
            yield f"{key_path}.density: {entry.density} is wrong; {right}, so that one weight is kept."
        if isinstance(entry, Expression | Table):
            for one, other in EITHER:
                if one not in type(entry).model_fields:
                    continue
                # What a study has written down says its defaults too.
                given = getattr(entry, other) != type(entry).model_fields[other].default
                if getattr(entry, one) is not None and given:
                    yield f"{key_path}.{other}: {one} is given too; keep one of the two."
        if isinstance(entry, Table):
            yield from _column_mistakes(entry, key_path)


def _file_mistakes(config: Config) -> Iterator[str]:
    """Mistakes in the files of custom data sets, models and makers."""
    for name, dataset in config.datasets.items():
        if ":" in dataset.kind:
            yield from custom.function_mistakes(dataset.kind, f"datasets.{name}.kind", custom.BUILD_DATA)
    for section in ("datasets", "experiments", "searches"):
        for name, entry in getattr(config, section).items():
            if entry.model is not None and ":" in entry.model:
                yield from custom.function_mistakes(entry.model, f"{section}.{name}.model", custom.BUILD_MODEL)


def _column_mistakes(entry: Table, key_path: str) -> Iterator[str]:
    """Columns of a table that two keys use for different purposes."""
    if entry.sites == entry.target:
        yield f"{key_path}.sites: {entry.sites!r} is the target too, so each client would have one class; name another."
    for name in entry.features:
        others = {"the target": name == entry.target, "the site": name == entry.sites, "ignored": name in entry.ignore}
        for other in [other for other, used in others.items() if used]:
            yield f"{key_path}.features: {name!r} is {other} too; remove it from one of the two."


def _model_mistakes(config: Config) -> Iterator[str]:
    """Mistakes in the names of custom models; the names of their modules are checked only in the job."""
    for section in ("datasets", "experiments", "searches"):
        for name, entry in getattr(config, section).items():
            model = entry.model or getattr(config.datasets.get(getattr(entry, "dataset", "")), "model", "")
            if entry.gated and ":" not in model:
                right = "all weights of a built-in model are gated; remove this key"
                yield f"{section}.{name}.gated: {shown(entry.gated)} is wrong; {right}."


def _method_mistakes(config: Config, files: bool) -> Iterator[str]:
    for name, entry in config.methods.items():
        key_path = f"methods.{name}"
        if ":" in entry.method:
            mistakes_here = [*custom.method_mistakes(entry.method, entry.options, key_path)] if files else []
        else:
            mistakes_here = [*custom.built_in_mistakes(entry.method, f"{key_path}.method")]
            if not mistakes_here and entry.options:
                right = "only a custom method has options; a built-in one has settings"
                mistakes_here = [f"{key_path}.options: {shown(entry.options)} is wrong; {right}."]
        if mistakes_here:
            yield from mistakes_here
            continue
        if entry.settings_like and entry.settings_like not in config.methods:
            yield unknown(f"{key_path}.settings_like", entry.settings_like, config.methods)
        elif entry.settings_like:
            for by_method in config.choices.values():
                chosen = by_method.get(entry.settings_like, {})
                yield from _settings_mistakes(config, name, chosen, f"{key_path}.settings_like.{entry.settings_like}")
        yield from _settings_mistakes(config, name, entry.defaults, f"{key_path}.defaults")
        yield from _settings_mistakes(config, name, entry.settings, f"{key_path}.settings")
        known = [*config.datasets, *chosen_entries(config)]
        for dataset, values in entry.per_dataset.items():
            if dataset not in known:
                yield unknown(f"{key_path}.per_dataset", dataset, known)
            yield from _settings_mistakes(config, name, values, f"{key_path}.per_dataset.{dataset}")


def _chosen_mistakes(config: Config) -> Iterator[str]:
    known = [*config.datasets, *chosen_entries(config)]
    for entry, by_method in config.choices.items():
        if entry not in known:
            yield unknown("chosen", entry, known)
        for method, values in by_method.items():
            if method in config.methods:
                yield from _settings_mistakes(config, method, values, f"chosen.{entry}.{method}")
            else:
                yield unknown(f"chosen.{entry}", method, config.methods)


def _names_mistakes(config: Config, entry: Experiment | Search, key_path: str) -> Iterator[str]:
    """Mistakes in the data set, the methods and the ratios that an experiment or search names."""
    if entry.dataset not in config.datasets:
        yield unknown(f"{key_path}.dataset", entry.dataset, config.datasets)
        return
    for method in entry.methods:
        if method not in config.methods:
            yield unknown(f"{key_path}.methods", method, config.methods)
    sized = isinstance(config.datasets[entry.dataset], Synthetic)
    if sized and not entry.ratios:
        yield f"{key_path}.ratios: missing; synthetic data needs at least one N/d, such as [0.64]."
    if not sized and entry.ratios:
        yield f"{key_path}.ratios: {entry.ratios} is wrong; {entry.dataset} has a fixed size; remove this key."


def _known_methods(config: Config, entry: Experiment | Search) -> list[str]:
    return [method for method in entry.methods if method in config.methods]


def _experiment_mistakes(config: Config) -> Iterator[str]:
    for name, entry in config.experiments.items():
        key_path = f"experiments.{name}"
        yield from _names_mistakes(config, entry, key_path)
        if entry.chosen_entry and entry.chosen_entry not in (entries := chosen_entries(config)):
            yield unknown(f"{key_path}.chosen_entry", entry.chosen_entry, entries)
        if entry.cases_of and not entry.cases:
            right = "run a search that writes it and adopt its result, or write the cases here"
            yield f"{key_path}.cases_of: the chosen settings have no entry {entry.cases_of}; {right}."
        if entry.target in RULES or entry.target in {f"data_{name}" for name in config.datasets}:
            yield f"{key_path}.target: the workflow already has a rule {entry.target}; give the target another name."
        longest = ",".join(f"{key}={max(map(str, values), key=len)}" for key, values in entry.vary.items())
        if len(longest) > LONGEST_LABEL:
            right = f"it names a folder, with at most {LONGEST_LABEL} characters; vary fewer settings at once"
            yield f"{key_path}.vary: the variant {shown(longest)} is too long; {right}."
        if (count := math.prod(map(len, entry.vary.values()))) > MOST_VARIANTS:
            yield f"{key_path}.vary: this makes {count:,} variants; the limit is {MOST_VARIANTS:,}, so vary less."
        if entry.vary and entry.cases:
            yield f"{key_path}: vary and cases cannot both be given; keep one of them."
        for method in _known_methods(config, entry):
            yield from _settings_mistakes(config, method, entry.settings, f"{key_path}.settings")
            for key, values in entry.vary.items():
                for value in values:
                    yield from _settings_mistakes(config, method, {key: value}, f"{key_path}.vary")
            for case, settings in entry.cases.items():
                yield from _settings_mistakes(config, method, settings, f"{key_path}.cases.{case}")
            changes = [*entry.cases.values(), *({"gates": value} for value in entry.vary.get("gates", []))]
            yield from _gate_mistakes(config, name, method, key_path, changes or [{}])


def _gate_mistakes(
    config: Config, name: str, method: str, key_path: str, changes: Iterable[Mapping[str, object]]
) -> Iterator[str]:
    """Shared gates for a model without groups; for a custom model only the job knows."""
    if entry_of(config, name).dataset not in config.datasets:
        return
    values = {key: value for _, part in layers(config, name, method) for key, value in part.items()}
    model = model_of(config, name)[0]
    for settings in ({**values, **change} for change in changes):
        gates, right = settings.get("gates", "weight"), ""
        if gates != "weight" and settings.get("feedback") is not None:
            right = "with feedback each weight has its own; leave one of the two out"
        elif gates == ("feature" if model == "cnn" else "unit") and ":" not in model:
            right = f"the model {model} can have {'unit' if model == 'cnn' else 'feature'}"
        if right:
            yield f"{key_path}: gates: {gates} is wrong for {method}; {right}."


def _search_mistakes(config: Config) -> Iterator[str]:
    searched: dict[str, str] = {}
    for name, entry in config.searches.items():
        key_path = f"searches.{name}"
        yield from _names_mistakes(config, entry, key_path)
        yield from _goal_mistakes(config, entry, key_path)
        first = searched.setdefault(entry.entry, name)
        if first != name:
            yield f"{key_path}.chosen_entry: searches.{first} already writes {entry.entry}; rename one."
        for method in set(entry.admit.sent) - set(entry.methods):
            yield unknown(f"{key_path}.admit.sent", method, entry.methods)
        for method in set(entry.method_ranges) - set(entry.methods):
            yield unknown(f"{key_path}.method_ranges", method, entry.methods)
        for method in set(entry.cross) - set(entry.methods):
            yield unknown(f"{key_path}.cross", method, entry.methods)
        for method in _known_methods(config, entry):
            yield from _settings_mistakes(config, method, entry.settings, f"{key_path}.settings")
            for key, crossed in entry.cross.get(method, {}).items():
                for value in crossed:
                    yield from _settings_mistakes(config, method, {key: value}, f"{key_path}.cross.{method}")
            ranges = {**entry.ranges, **entry.method_ranges.get(method, {})}
            for key, values in ranges.items():
                yield from _range_mistakes(config, method, key, values, f"{key_path}.ranges")
            yield from _gate_mistakes(config, name, method, key_path, [{}])
        for other, experiment in config.experiments.items():
            if experiment.dataset == entry.dataset and set(experiment.draws) & set(entry.draws):
                shared = sorted(set(experiment.draws) & set(entry.draws))
                right = "choose other draws for the search"
                yield f"{key_path}.draws: {shared} are also evaluated by experiments.{other}; {right}."


def _goal_mistakes(config: Config, entry: Search, key_path: str) -> Iterator[str]:
    """Mistakes in the metric by which a search ranks its runs."""
    dataset = config.datasets.get(entry.dataset)
    known = METRICS.get(entry.model or dataset.model) if dataset else None
    if known and entry.metric not in known:
        yield f"{key_path}.metric: runs on {entry.dataset} have no {entry.metric}; use {' or '.join(known)}."
    if entry.nearest == "support_recovery" and not isinstance(dataset, Synthetic):
        yield f"{key_path}.nearest: support_recovery is the paper's table of synthetic data; remove this key."
    if entry.nearest == "gene_frequency" and not isinstance(dataset, Expression):
        yield f"{key_path}.nearest: gene_frequency is the paper's table of expression data; remove this key."


def chosen_entries(config: Config) -> list[str]:
    """The entries of chosen settings that the searches write."""
    return [name for search in config.searches.values() for name in search.entries]


def _range_mistakes(config: Config, method: str, key: str, values: Range, key_path: str) -> Iterator[str]:
    ends = [values.low, values.high] if isinstance(values, Interval) else values
    for value in ends:
        yield from _settings_mistakes(config, method, {key: value}, key_path)
    if isinstance(values, Interval) and values.low > values.high:
        yield f"{key_path}.{key}: low is {values.low} and high is {values.high}; low should not be above high."
    if isinstance(values, Interval) and values.log and values.low <= 0:
        yield f"{key_path}.{key}.low: {values.low} is wrong; with 'log: true' it should be greater than 0."


def _product_mistakes(config: Config, files: bool) -> Iterator[str]:
    """Mistakes in the products that a config adds or changes, as sentences."""
    known = project_entries() | general_entries(config)
    owners: dict[str, str] = {}
    for entry in general_products(config):
        (experiment,) = entry["experiments"]
        if (first := owners.setdefault(entry["name"], experiment)) != experiment:
            both = f"experiments.{first} and experiments.{experiment}"
            yield f"experiments.{experiment}: {both} would both have the {entry['kind']} {entry['name']}; rename one."
    for name in set(project_entries()) & set(general_entries(config)):
        yield f"experiments: '{name}' cannot be a table's name, because there is a product of that name; rename it."
    for name, change in config.products.items():
        key_path = f"products.{name}"
        if change is None:
            if name not in known:
                yield unknown(key_path, name, known)
            continue
        entry = known.get(name, {}) | {"name": name} | change
        try:
            product = Product.model_validate(entry)
        except ValidationError as error:
            yield from sentences(error, entry, Product, key_path)
            continue
        there = files or product.make.startswith("eflops.")
        if there and ("make" in change or "parameters" in change):
            yield from custom.function_mistakes(product.make, f"{key_path}.make", ("source",), product.parameters)
        for experiment in product.experiments:
            if experiment not in config.experiments and "experiments" in change:
                yield unknown(f"{key_path}.experiments", experiment, config.experiments)
