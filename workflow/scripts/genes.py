"""Name the genes of expression data."""

import json
import sys
from pathlib import Path

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import logged

with logged(snakemake.log[0]):
    from eflops.data.expression import write_genes

    write_genes(json.loads(snakemake.params.settings), Path(snakemake.output[0]))
