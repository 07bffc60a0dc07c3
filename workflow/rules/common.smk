# The checked config and the few helpers that several stages use. Loads no torch.
import json
import os
import shlex
import sys
from pathlib import Path

# The project's own files lie two folders up, also when this workflow is a module of another one. Where they are not on
# this machine (a module from a repository), the installed package says where.
ROOT = Path(str(workflow.current_basedir.get_path_or_uri(secret_free=True))).parents[1]
if (ROOT / "src/eflops").is_dir():
    sys.path.insert(0, f"{ROOT}/src")

import eflops

if not (ROOT / "src/eflops").is_dir():
    ROOT = Path(eflops.__file__).parents[2]

# Custom methods, data sets and products lie beside the Snakefile, in the working folder or in a module's host.
# Jobs look there too (eflops.script); a variable of our own does not disturb the rules of a host.
OWN = list(dict.fromkeys(map(str, (Path.cwd(), Path(workflow.basedir), ROOT))))
sys.path.extend(OWN)
os.environ.update(EFLOPS_OWN=os.pathsep.join(OWN))

# Snakemake puts the path of its Python into shell commands as it is, which ends at the first space of a clone's folder.
if Path(sys.executable).exists():
    sys.executable = shlex.quote(sys.executable)

from eflops.config.load import check, in_order_of, read_yaml
from eflops.config.messages import ConfigError
from eflops.config.jobs import training_jobs
from eflops.config.plan import all_plans
from eflops.config.products import products
from eflops.errors import UserError
from eflops.files import locate
from eflops.results.specs import refuse_read_only, wanted_folder

# The working folder may bring its own config (--directory, or a deployed module); otherwise the paper's is used.
OWN_CONFIGS = [path for path in ("config.yaml", "config/config.yaml") if Path(path).exists()]
CONFIG = OWN_CONFIGS[0] if OWN_CONFIGS else str(ROOT / "config.yaml")

try:
    # Read here too: Snakemake names no line of a broken file, passes over a key that stands twice, and puts the keys of
    # an overlay before those of config.yaml, which tables and legends follow.
    BASE = read_yaml(Path(CONFIG))
    for overlay in workflow.overwrite_configfiles:
        read_yaml(Path(overlay))
except ConfigError as error:
    sys.exit("\n".join(f"config: {mistake}" for mistake in error.mistakes))


configfile: CONFIG


try:
    STUDY = check(in_order_of(BASE, config))
except ConfigError as error:
    sys.exit("\n".join(f"config: {mistake}" for mistake in error.mistakes))

RESULTS = STUDY.results
PLANS = {plan.name: plan for plan in all_plans(STUDY)}
CELLS = {cell.cell: cell for cell, _ in training_jobs(STUDY)}
PRODUCTS = {product.name: product for product in products(STUDY)}
SEARCH_OF = {search.entry: name for name, search in STUDY.searches.items()}


# In paths of rules, <results> is the results folder and <wanted> holds the specs that jobs are to work by (specs.smk).
pathvars:
    results=RESULTS,
    wanted=str(wanted_folder(RESULTS)),
    logs=f"{RESULTS}/logs",
    benchmarks=f"{RESULTS}/benchmarks",


def project(path):
    """A file of the project's own, named from the working folder."""
    return local(os.path.relpath(ROOT / path))


def given(path):
    """A file that the config names: in the working folder, or else beside the Snakefile."""
    return local(os.path.relpath(locate(path) or path))


def growing(amount):
    """A resource that grows with each attempt at a job."""
    return lambda wildcards, attempt: amount * attempt


onstart:
    # Snakemake 9 starts a timer for each job that ends while others wait, and each timer goes through all waiting jobs
    # once a second from then on: minutes of CPU in a full run. Without the rate limiter there are no timers.
    workflow.scheduler.job_rate_limiter = None
    # Otherwise the first job ends in a traceback of Snakemake's own.
    try:
        refuse_read_only(Path(RESULTS))
    except UserError as error:
        sys.exit(f"eflops: {error}")


wildcard_constraints:
    dataset=r"[a-z]\w*",
    experiment=r"[a-z]\w*",
    method=r"[a-z]\w*?",
    ratio=r"nd[0-9.]+|all",
    draw=r"\d+",
    part=r"(_seeds\d+to\d+)?",
    source="mnist|fashion_mnist",
