"""From what the user typed to a results folder and a number in it."""

from pathlib import Path

from eflops.analysis.catalogue import products
from eflops.analysis.catalogue.product import Product
from eflops.config.models import Config
from eflops.errors import UserError
from eflops.files import sha256
from eflops.provenance import lines, study
from eflops.provenance.address import Address
from eflops.provenance.checks.products import picture_hash
from eflops.provenance.evidence import Evidence, cell_evidence, line_evidence
from eflops.provenance.recompute import find_product
from eflops.provenance.store import Store
from eflops.provenance.study import read_study

PLACES = (Path("results"), Path("results/published"))


def results_of(file: Path, named: Path | None) -> Path:
    """The results folder that a file belongs to: the one it lies in, or else the usual ones."""
    if named:
        return named
    around = [folder for folder in file.resolve().parents if (folder / study.NAME).exists()]
    found = [*around, *(place for place in PLACES if (place / study.NAME).exists())]
    if not found:
        raise UserError(f"{file}: it lies in no results folder, and there is none here; name one with --results.")
    return found[0]


def gather_evidence(store: Store, configs: tuple[Path, ...], address: Address, line: str | None) -> Evidence:
    """What is behind the number at an address."""
    found = read_study(store.folder, *configs)
    if line is not None or address.file.stem == Path(lines.NAME).stem:
        if line is None:
            raise UserError(f"{address.file}: say which line of the scorecard, such as --line table1/0.64/eflops.")
        return line_evidence(store, found, line)
    return cell_evidence(store, found, product_of(store, found.config, address.file), address)


def product_of(store: Store, config: Config, file: Path) -> Product:
    """The table or figure that a file is; a picture is known by the hash of its data, whatever it is called."""
    drawn_from = picture_hash(file) if file.exists() and file.suffix in (".svg", ".png", ".pdf") else None
    if drawn_from:
        for product in products(config):
            table = store.folder / product.files[-1]
            if product.kind == "figure" and table.exists() and sha256(table) == drawn_from:
                return product
        raise UserError(f"{file}: it was drawn from data (sha256 {drawn_from}) that {store.named} does not hold.")
    found = find_product(config, file)
    if found is None:
        known = ", ".join(f"{product.kind}s/{product.name}" for product in products(config))
        raise UserError(f"{file}: this is no table or figure of these results; they are {known}.")
    return found
