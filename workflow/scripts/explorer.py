"""Make the page on which every number opens to its runs."""

import sys
from pathlib import Path

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import logged

with logged(snakemake.log[0]):
    from eflops.explorer.make import make

    make(snakemake.params.results, Path(snakemake.output[0]))
