"""Gene expression with classes: the preset of `eflops.data.table` with filters of genes and gene names.

The matrix is your file or one that comes with the project. The filter of genes uses all samples, as in the literature,
but not the classes. Clients are the sites in the column `clients_by`; without it, training samples are distributed by
Dirichlet counts.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from eflops.config.data import DataSettings
from eflops.data import table
from eflops.data.federation import Block, Federation
from eflops.data.matrix import Rows, listed, read_matrix, read_table, value_faults, verified
from eflops.data.scaling import Scaling
from eflops.data.table_checks import missing_target
from eflops.data.tabular import Spec
from eflops.errors import UserError

NAMES = ("symbol", "name", "description")


def spec_of(settings: DataSettings) -> Spec:
    """The table that an entry of `kind: expression` describes."""
    return table.spec_of(
        settings,
        file=settings["matrix"],
        target=settings["labels"],
        task="classification",
        sites=settings["clients_by"],
        layout=settings["rows"],
    )


def build(settings: DataSettings, ratio: float | None, seed: int, raw: Path | None = None) -> Federation:
    """One split into test samples and clients; `seed` is the split."""
    return table.make(spec_of(settings), seed)


def features(settings: DataSettings) -> pd.DataFrame:
    """The genes in the order of the features: gene, symbol, name, description, and the label to print.

    Cells that the files `gene_names` do not provide are empty.
    """
    genes = pd.DataFrame({"gene": table.prepared(spec_of(settings)).features})
    for path in settings["gene_names"]:
        heading, names = read_table(verified(path))
        names = names.set_axis(["gene", *heading[1:]], axis=1).drop_duplicates("gene")
        genes = genes.merge(names[["gene", *(name for name in NAMES if name in names)]], on="gene", how="left")
    genes = genes.reindex(columns=["gene", *NAMES]).astype(object).fillna("")
    label = genes["gene"]
    for better in ("description", "symbol", "name"):
        label = genes[better].where(genes[better] != "", label)
    return genes.assign(label=label)


def node_rows(
    path: str,
    agreed: Sequence[str],
    classes: Sequence[str],
    scaling: Scaling,
    labels: str = "class",
    rows: Rows = "samples",
    samples: str | None = None,
) -> Block:
    """The rows of one Flower node, such as a hospital's file, as a block.

    agreed: the genes that all nodes keep, in the order of the features; classes: the names of the classes 0, 1, ...
    Scaling is per array, so a node does not need the values of others; logarithm, floor and ceiling are agreed.
    """
    if not scaling.by_row:
        raise UserError(f"a node has only its own rows, so it cannot scale {scaling.way}; use per_array.")
    matrix = read_matrix(path, rows, [labels], samples, agreed)
    wrong = [*value_faults(matrix), *missing_target(matrix, labels)]
    if wrong:
        raise UserError("\n".join(wrong))
    strange = sorted(set(matrix.columns[labels]) - set(classes))
    if strange:
        raise UserError(
            f"{matrix.source}: {listed(strange)} in {labels!r} is not a class; the classes are {listed(classes)}."
        )
    numbers = np.array([list(classes).index(name) for name in matrix.columns[labels]], dtype=np.int64)
    return Block(scaling.apply(matrix.values), numbers)
