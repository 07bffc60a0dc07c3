"""Make one figure."""

import json
import sys
from pathlib import Path

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import logged

with logged(snakemake.log[0]):
    from eflops.analysis.products import make

    make(json.loads(snakemake.params.job), Path(snakemake.params.results), map(Path, snakemake.output))
