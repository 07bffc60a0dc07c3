"""Gather the references of one experiment."""

import sys
from pathlib import Path

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import logged

with logged(snakemake.log[0]):
    from eflops.analysis.references import gather

    gather(map(Path, snakemake.input), Path(snakemake.output[0]))
