"""Bring a public data set's files."""

import sys

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import logged

with logged(snakemake.log[0]):
    from eflops.data.idx import fetch_listed

    fetch_listed(snakemake.params.folder, snakemake.wildcards.source, snakemake.params.given, snakemake.output[0])
