"""Make the test features that all N/d of a draw of synthetic data share."""

import sys
from pathlib import Path

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import run_job

with run_job(snakemake) as spec:
    from eflops.data.synthetic import write_test_features

    write_test_features(spec["settings"], Path(snakemake.output.features))
