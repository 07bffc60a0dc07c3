"""Summarise the results."""

import sys
from pathlib import Path

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import run_job

with run_job(snakemake) as spec:
    from eflops.analysis.summary.write import write

    sources = frozenset(spec["sources"])
    write(Path(snakemake.params.results), sources, spec["trials"], Path(snakemake.output.markdown))
