"""Record the config and the code that the results were made with."""

import sys
from pathlib import Path

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import run_job

with run_job(snakemake) as spec:
    from eflops.config.study import write

    write(spec["config"], Path(snakemake.output.study))
