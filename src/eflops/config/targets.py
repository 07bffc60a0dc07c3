"""Files that a person asks the workflow for: those there are, and the nearest to one that nothing makes."""

import difflib
from collections.abc import Iterable

from eflops.config.models import Config
from eflops.config.plan import all_plans
from eflops.config.products import Product
from eflops.results import paths

# Below these folders a file has a name of the config; a draw may be any number.
NAMED = ("tables", "figures", "gathered", "cells", "search")
OF_DATA = ("data", "references")


def misspelt(asked: str, config: Config, products: Iterable[Product], cells: Iterable[str]) -> str:
    """What is wrong with a file that nothing makes, in a sentence; empty for all other words.

    cells: the manifests of all training jobs, below the results folder.
    """
    below = asked.removeprefix(f"{config.results}/")
    folder, _, rest = below.partition("/")
    if below == asked or not rest:
        return ""
    if folder in OF_DATA:
        name, _, file = rest.partition("/")
        known, right = [*config.datasets], f"{config.results}/{folder}/{{}}/{file}"
    elif folder in NAMED:
        name, known, right = below, [*_files(config, products), *cells], f"{config.results}/{{}}"
    else:
        return ""
    if name in known:
        return ""
    near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.0)
    return f"{asked}: nothing makes this file{f'; did you mean {right.format(near[0])}?' if near else '.'}"


def _files(config: Config, products: Iterable[Product]) -> list[str]:
    """The files of tables and figures, of gathered runs and of searches, below the results folder."""
    gathered = (paths.GATHERED, paths.CURVES, paths.SUPPORTS, paths.REFERENCES)
    return [
        *(path for product in products for path in product.files),
        *(template.format(experiment=plan.name) for plan in all_plans(config) for template in gathered),
        *(
            each.format(dataset=search.entry)
            for search in config.searches.values()
            for each in (paths.TRIALS, paths.CHOSEN)
        ),
    ]
