"""Make data draws."""

import sys

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import logged

with logged(snakemake.log[0]):
    from eflops.data.build import make

    make(snakemake.params.settings, *snakemake.output.manifests)
