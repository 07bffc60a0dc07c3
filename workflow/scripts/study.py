"""Write down the config and the code that the results were made with."""

import json
import sys
from pathlib import Path

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import logged

with logged(snakemake.log[0]):
    from eflops.config.study import write

    write(json.loads(snakemake.params.config), Path(snakemake.output[0]))
