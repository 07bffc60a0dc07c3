# What rules are given: their input files and params. Each gets its own slice of the config and nothing more.


def raw_files(dataset):
    """The files that a data set is made from: the list of those downloaded, or those that its entry names."""
    entry = STUDY.datasets[dataset]
    return [*map(given, getattr(entry, "files", [])), *filled(paths.RAW, source=getattr(entry, "source", []))]


def gene_files(wildcards):
    """The files that name the features of data that are read from a file."""
    entry = STUDY.datasets[wildcards.dataset]
    return [given(path) for path in (*entry.files, *entry.gene_names)]


def given(path):
    """A file that the config names: in the working folder, or else beside the Snakefile."""
    return local(os.path.relpath(locate(path) or path))


def batch_files(batch, template):
    """The files of the data draws that one job makes."""
    draws = {} if batch.by_draw else {"draw": batch.draws}
    return filled(template, dataset=batch.dataset, ratio=batch.ratios, **draws)


def data_slice(dataset):
    """What the draws and genes of a data set depend on."""
    return json.dumps(data_settings(STUDY.datasets[dataset]), sort_keys=True)


def data_code(dataset):
    """The name of the code that makes a data set."""
    return code_of("data", "eflops.data.build", data_module(STUDY.datasets[dataset].kind))


def cell_draws(wildcards, template):
    """Files of the data draws that a cell trains on."""
    plan = PLANS[wildcards.experiment]
    return filled(template, dataset=plan.dataset, ratio=wildcards.ratio, draw=plan.draws)


def slice_of(wildcards):
    """What is asked of a cell's job."""
    return SLICES[paths.CELL.format(**wildcards)]


def experiment_slices(wildcards):
    """What is asked of the training jobs of an experiment, in the order of its tables."""
    plan = PLANS[wildcards.experiment]
    names = [
        {"experiment": plan.name, "ratio": ratio, "method": method, "part": part}
        for ratio in plan.ratios
        for method in plan.methods
        for part, seeds in plan.parts(STUDY.seeds_per_job)
    ]
    return [SLICES[paths.CELL.format(**each)] for each in names]


def search_slice(entry):
    """What a search ranks its trials by, and which settings it sets for each method."""
    return json.dumps(ranking(STUDY.searches[SEARCH_OF[entry]]))


def experiment_draws(wildcards, template):
    """Files of the data draws that an experiment trains on."""
    plan = PLANS[wildcards.experiment]
    return filled(template, dataset=plan.dataset, ratio=plan.ratios, draw=plan.draws)


def target_of_cell(cell):
    """The target that trains a cell; a search has none."""
    experiment = STUDY.experiments.get(cell.split("/")[1])
    return experiment.target if experiment else None


# The summary and the page speak of the data beyond the paper too. An experiment with another target is trained by that
# target alone.
WHOLE = ("all", "beyond")


def product_files(kind, target="all"):
    """The files of all tables or all figures of a target."""
    wanted = [each for each in PRODUCTS.values() if each.kind == kind and target_of(STUDY, each) == target]
    return [results(path) for product in wanted for path in product.files]


def product_sources(wildcards):
    """The gathered files that a table or figure is made from, and what it reads of the project's own."""
    product = PRODUCTS[wildcards.name]
    return [*map(results, product.sources), *map(project, product.resources)]


def product_plan(wildcards):
    """The file that says what is asked of a table or figure."""
    return PRODUCT_PLANS[wildcards.name]


def product_code(wildcards):
    """The name of the code that makes a table or figure."""
    product = PRODUCTS[wildcards.name]
    return code_of(product.kind, "eflops.analysis.products", product.module)


def product_slice(wildcards):
    """All that a table or figure depends on besides files and code."""
    return PRODUCT_JOBS[wildcards.name]


PRODUCT_JOBS = {name: json.dumps(product_job(STUDY, product)) for name, product in PRODUCTS.items()}
PRODUCT_PLANS = {name: asked(f"{PRODUCTS[name].kind}s/{name}", job) for name, job in PRODUCT_JOBS.items()}
GENE_PLANS = {name: asked(f"data/{name}/genes", data_slice(name)) for name in STUDY.datasets}
SEARCH_PLANS = {entry: asked(f"search/{entry}", search_slice(entry)) for entry in SEARCH_OF}


def product_title(wildcards):
    """What a table or figure shows, for its caption in the report."""
    return PRODUCTS[wildcards.name].caption


def product_category(wildcards):
    """The part of the report that lists a table or figure."""
    return PRODUCTS[wildcards.name].category


def product_labels(wildcards):
    """How the report lists a table or figure; of a second label with two values it would make a switch."""
    return {"what": product_title(wildcards)}


def names(kind):
    """The names of all tables or all figures, so that a misspelt one is no file of the workflow."""
    return "|".join(name for name, product in PRODUCTS.items() if product.kind == kind) or "none"


# Functions, because Snakemake takes braces in a text for wildcards, and a label may have some.
def judged_labels(wildcards):
    """The names of the methods that the scorecard speaks of."""
    return json.dumps(shown_methods(STUDY, JUDGED)["labels"])


def whole_config(wildcards):
    """The checked config."""
    return json.dumps(STUDY.model_dump(mode="json"))


# Of a misspelt file Snakemake says that no rule makes it, or shows a traceback; what was typed is known here, and so is
# the nearest name. The host of a module may have files of its own there.
IS_MODULE = Path(workflow.basedir) not in (ROOT, ROOT / "workflow")
for word in [] if IS_MODULE else sys.argv[1:]:
    if mistake := misspelt(word, STUDY, PRODUCTS.values(), SLICES):
        sys.exit(mistake)
