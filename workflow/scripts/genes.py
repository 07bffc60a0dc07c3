"""Name the features of data that are read from a file."""

import json
import sys
from pathlib import Path

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import logged

with logged(snakemake.log[0]):
    from eflops.data.build import write_features

    write_features(json.loads(snakemake.params.settings), Path(snakemake.output[0]))
