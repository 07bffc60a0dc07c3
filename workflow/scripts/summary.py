"""Sum up what was found."""

import sys
from pathlib import Path

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import logged

with logged(snakemake.log[0]):
    from eflops.analysis.summary.write import write

    params = snakemake.params
    write(Path(params.results), frozenset(params.sources), params.trials, map(Path, snakemake.output))
