"""Fetch the files of a public image set."""

import sys

sys.path.insert(0, f"{snakemake.scriptdir}/../../src")

from eflops.script import run_job

with run_job(snakemake) as spec:
    from eflops.data.idx import fetch_listed

    fetch_listed(spec["folder"], snakemake.wildcards.source, spec["given"], snakemake.output.listing)
