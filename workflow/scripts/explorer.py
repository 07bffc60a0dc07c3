"""Make the results explorer."""

import sys
from pathlib import Path

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import run_job

with run_job(snakemake):
    from eflops.explorer.make import make

    make([snakemake.params.results], Path(snakemake.output.page))
