"""Gather the records of one experiment."""

import sys

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import logged

with logged(snakemake.log[0]):
    from eflops.analysis.gather import gather_cells

    gather_cells(snakemake.input.plans, snakemake.input.cells, snakemake.params.results, **snakemake.output)
