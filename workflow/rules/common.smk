# The checked config and the few names that several stages use. Loads no torch.
import json
import sys

# Methods and data sets of the user's own lie beside the Snakefile.
sys.path.insert(0, workflow.basedir)

from eflops.analysis.catalogue import products
from eflops.code import code_hash, data_module, training_roots
from eflops.config import cells
from eflops.config.load import check
from eflops.config.mistakes import ConfigError
from eflops.data.idx import FILES as IDX_FILES

try:
    STUDY = check(config)
except ConfigError as error:
    sys.exit("\n".join(f"config: {mistake}" for mistake in error.mistakes))

RESULTS = STUDY.results
PLANS = {plan.name: plan for plan in cells.plans(STUDY)}
PRODUCTS = {product.name: product for product in products(STUDY)}
PYTHON = "python -m eflops"


wildcard_constraints:
    dataset=r"[a-z]\w*",
    experiment=r"[a-z]\w*",
    method=r"[a-z]\w*",
    ratio=r"nd[0-9.]+|all",
    draw=r"\d+",
