# The spec of every job: what it computes from besides its input files. A changed spec makes its job run again, and
# eflops.results.specs says how this holds without Snakemake's metadata and without a dry run touching the results.
from functools import cache

from eflops.analysis.needs import (
    TARGETS,
    WHOLE,
    compared_experiments,
    judges,
    summary_sources,
    summary_trials,
)
from eflops.code import code_hash, combined, data_module, file_hash
from eflops.config.models import data_settings
from eflops.config.products import product_job, shown_methods, target_of
from eflops.config.searches import ranking
from eflops.config.study import present_code
from eflops.explorer.page import assets_hash
from eflops.results.specs import want

DIGESTS = {}


def specify(job, text, complete=True):
    """Write down the spec that a job is to work by.

    It is written while the workflow is read: Snakemake may remember that a file written later is not there.
    """
    try:
        wanted = want(Path(RESULTS), job, text, complete)
    except OSError as error:
        sys.exit(f"eflops: {Path.cwd()}: this folder cannot be written to ({error.strerror}); make it writable.")
    DIGESTS[str(wanted.file)] = wanted.digest


@cache
def code_of(script, *modules):
    """The name of the code that a rule's script can reach through these modules, and of the script itself."""
    # By content: Snakemake's own trigger compares the dates of scripts, which every checkout changes, and sees no
    # module.
    return f"{code_hash(*modules)} {file_hash(ROOT / 'workflow/scripts' / f'{script}.py')}"


def specify_values(job, script, modules, **values):
    """The same for values as JSON, with the name of the code."""
    specify(job, json.dumps({**values, "code": code_of(script, *modules)}, indent=1) + "\n")


def spec_digest(wildcards, input):
    """The digest of a job's spec; the script refuses a spec that was changed meanwhile."""
    return DIGESTS[input.spec]


for cell in CELLS.values():
    # A cell that lost a record is trained again.
    specify(cell.job, cell.text, complete=cell.is_complete(Path(RESULTS)))

# A set, because experiments share draws, and each draw is one job.
DRAWS = {(plan.dataset, ratio, draw) for plan in PLANS.values() for ratio in plan.ratios for draw in plan.draws}
for dataset, ratio, draw in DRAWS:
    entry = STUDY.datasets[dataset]
    modules = ("eflops.data.build", data_module(entry.kind))
    specify_values(f"data/{dataset}/{ratio}-draw{draw}", "data", modules, settings=data_settings(entry))
    if entry.kind == "synthetic":
        # Only what the features depend on, so that other settings of the data set leave the file as it is.
        features = entry.model_dump(mode="json", include={"test_rows", "features", "correlation", "density"})
        job, module = f"data/{dataset}/test-draw{draw}", "eflops.data.synthetic"
        specify_values(job, "test_features", [module], settings=features)

for name, entry in STUDY.datasets.items():
    named = ("eflops.data.build", "eflops.data.expression", "eflops.data.table")
    specify_values(f"data/{name}/genes", "genes", named, settings=data_settings(entry))
    if source := getattr(entry, "source", None):
        folder, given_folder = f"resources/{source}", STUDY.mnist_folder or ""
        specify_values(f"fetch/{source}", "fetch", ["eflops.data.idx"], folder=folder, given=given_folder)

for name in PLANS:
    specify_values(f"gather/{name}", "gather", ["eflops.analysis.gather"])
    specify_values(f"references/{name}", "references", ["eflops.analysis.references"])

for entry, name in SEARCH_OF.items():
    search = STUDY.searches[name]
    rules_of_ranking = ranking(search, STUDY.datasets[search.dataset])
    specify_values(f"search/{entry}", "rank", ["eflops.analysis.search"], search=rules_of_ranking)

for name, product in PRODUCTS.items():
    # With the product's own module, so that an edit of it makes no table or figure of another module again.
    modules = ("eflops.analysis.products", product.module)
    specify_values(f"{product.kind}s/{name}", product.kind, modules, **product_job(STUDY, product))

WHOLE_EXPERIMENTS = [name for name, entry in STUDY.experiments.items() if entry.target in WHOLE]

JUDGED = compared_experiments(ROOT / TARGETS, STUDY)
specify_values(
    "scorecard",
    "scorecard",
    ["eflops.analysis.scorecard.make", *judges(ROOT / TARGETS)],
    labels=shown_methods(STUDY, JUDGED)["labels"],
    experiments=JUDGED,
)

WHOLE_TABLES = [product for product in PRODUCTS.values() if target_of(STUDY, product) in WHOLE]
SUMMARISED = summary_sources(WHOLE_TABLES)
SUMMARISED_TRIALS = summary_trials(WHOLE_TABLES)
specify_values("summary", "summary", ["eflops.analysis.summary.write"], sources=SUMMARISED, trials=SUMMARISED_TRIALS)

specify_values(
    "study",
    "study",
    ["eflops.config.study"],
    config=STUDY.model_dump(mode="json"),
    package=combined(present_code(STUDY)),
)

specify_values(
    "explorer",
    "explorer",
    ["eflops.explorer.make", *(product.module for product in PRODUCTS.values())],
    page=assets_hash(),
)
