"""From what the user typed to a results folder and a number in it."""

from pathlib import Path

from eflops.analysis.needs import SCORECARD
from eflops.config.models import Config
from eflops.config.products import Product, products
from eflops.errors import UserError
from eflops.explain.address import Address
from eflops.explain.explanation import Explanation, explain_cell, explain_line
from eflops.explain.recompute import find_product
from eflops.files import sha256
from eflops.results import study
from eflops.results.pictures import picture_hash
from eflops.results.store import Store
from eflops.results.study import read_study

PLACES = (Path("results"), Path("results/published"))
PICTURES = (".svg", ".png", ".pdf")


def results_of(file: Path, named: Path | None) -> Path:
    """The results folder that a file belongs to: the one it lies in, or one that holds the same file.

    A picture says which numbers it was drawn from, so it may lie anywhere.
    """
    if named:
        return named
    if not file.is_file():
        raise UserError(_missing(file))
    around = [folder for folder in file.resolve().parents if (folder / study.NAME).exists()]
    if around:
        return around[0]
    usual = [place for place in PLACES if (place / study.NAME).exists()]
    drawn_from = picture_hash(file) if file.suffix in PICTURES else None
    found = [place for place in usual if _holds(place, file, drawn_from)]
    if not found:
        places = " or ".join(map(str, usual)) or "any results folder"
        raise UserError(
            f"{file}: it lies in no results folder, and {places} does not hold it; name one with --results."
        )
    return found[0]


def _missing(file: Path) -> str:
    """What to do about a file that is not there, in words."""
    if file.exists():
        return f"{file}: this is a folder; name a table, a figure or the scorecard in it."
    words = f"{file}: there is no such file; make it with: snakemake --cores 2 {file}"
    published = PLACES[1] / file.parent.name / file.name
    return f"{words}; or explain the published one: {published}" if published.exists() else words


def _holds(place: Path, file: Path, drawn_from: str | None) -> bool:
    """Whether a results folder has the numbers that a picture was drawn from, or a file with the same bytes."""
    if drawn_from:
        return any(sha256(table) == drawn_from for table in (place / "figures").glob("*.csv"))
    same = [place / file.parent.name / file.name, place / file.name]
    return any(other.is_file() and sha256(other) == sha256(file) for other in same)


def explain(store: Store, configs: tuple[Path, ...], address: Address, line: str | None) -> Explanation:
    """What is behind the number at an address."""
    found = read_study(store.folder, *configs)
    if line is not None or address.file.stem == Path(SCORECARD).stem:
        if line is None:
            raise UserError(f"{address.file}: say which line of the scorecard, such as --line table1/0.64/eflops.")
        return explain_line(store, found, line)
    return explain_cell(store, found, product_of(store, found.config, address.file), address)


def product_of(store: Store, config: Config, file: Path) -> Product:
    """The table or figure that a file is; a picture is known by the hash of its data, whatever it is called."""
    drawn_from = picture_hash(file) if file.exists() and file.suffix in PICTURES else None
    if drawn_from:
        for product in products(config):
            table = store.folder / product.files[-1]
            if product.kind == "figure" and table.exists() and sha256(table) == drawn_from:
                return product
        raise UserError(f"{file}: it was drawn from data (sha256 {drawn_from}) that {store.folder} does not hold.")
    found = find_product(config, file)
    if found is None:
        known = ", ".join(f"{product.kind}s/{product.name}" for product in products(config))
        raise UserError(f"{file}: this is no table or figure of these results; they are {known}.")
    return found
