# The checked config and the few names that several stages use. Loads no torch.
import json
import os
import shlex
import sys
from pathlib import Path

# Rules and jobs use this checkout's own sources; methods and data sets of the user's own lie beside the Snakefile.
SOURCES = [workflow.basedir, f"{workflow.basedir}/src"]
sys.path[:0] = SOURCES
shell.prefix(f"export PYTHONPATH={shlex.quote(os.pathsep.join(SOURCES))}; ")

from eflops.analysis.catalogue import products
from eflops.code import code_hash, data_module, training_roots
from eflops.config import cells
from eflops.config.load import check
from eflops.config.mistakes import ConfigError
from eflops.data.idx import FILES as IDX_FILES
from eflops.provenance import requests

try:
    STUDY = check(config)
except ConfigError as error:
    sys.exit("\n".join(f"config: {mistake}" for mistake in error.mistakes))

RESULTS = STUDY.results
PLANS = {plan.name: plan for plan in cells.plans(STUDY)}
PRODUCTS = {product.name: product for product in products(STUDY)}
SEARCH_OF = {search.dataset: name for name, search in STUDY.searches.items()}
# What jobs ask a cluster for.
NEEDS = requests.read(Path(workflow.basedir) / requests.TABLE)
REFERENCES = ("best_subset", "lasso")

# What tables and figures must know of the config: how methods are called, and which train on pooled data.
CONTEXT = json.dumps(
    {
        "labels": {name: entry.label for name, entry in STUDY.methods.items()},
        "pooled": [name for name, entry in STUDY.methods.items() if entry.pooled],
    }
)


onstart:
    # Snakemake 9 starts a timer for each job that ends while others wait, and each timer goes through all waiting jobs
    # once a second from then on: minutes of CPU in a full run. Without the rate limiter there are no timers.
    workflow.scheduler.job_rate_limiter = None


wildcard_constraints:
    dataset=r"[a-z]\w*",
    experiment=r"[a-z]\w*",
    method=r"[a-z]\w*",
    ratio=r"nd[0-9.]+|all",
    draw=r"\d+",
