"""Make one data draw."""

import sys
from pathlib import Path

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import run_job

with run_job(snakemake) as spec:
    from eflops.data.build import make

    shared = [Path(file) for file in snakemake.input.get("test_features", [])]
    make(spec["settings"], Path(snakemake.output.manifest).parent, *shared)
