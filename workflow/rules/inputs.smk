# What rules read: functions named for the files that they return, in the order of the rules.


def raw_files(dataset):
    """The files that a data set is made from: the list of those downloaded, or those that its entry names."""
    entry = STUDY.datasets[dataset]
    return [
        *map(given, getattr(entry, "files", [])),
        *expand("<results>/raw/{source}.json", source=getattr(entry, "source", [])),
    ]


def shared_features(dataset):
    """The file of test features that all N/d of a draw share; only synthetic data have one."""
    return [f"<results>/data/{dataset}/test-draw{{draw}}.npz"] if STUDY.datasets[dataset].kind == "synthetic" else []


def gene_files(wildcards):
    """The files that name the features of data that are read from a file."""
    entry = STUDY.datasets[wildcards.dataset]
    return [given(path) for path in (*entry.files, *entry.gene_names)]


def cell_data(file):
    """A function for the files of this name in the folders of the data draws that a cell trains on."""

    def files(wildcards):
        plan = PLANS[wildcards.experiment]
        folder = f"<results>/data/{plan.dataset}/{wildcards.ratio}-draw{{draw}}"
        return expand(f"{folder}/{file}", draw=plan.draws)

    return files


def shared_data(wildcards):
    """The files of test features that the data draws of an experiment share; only synthetic data have some."""
    plan = PLANS[wildcards.experiment]
    return expand(shared_features(plan.dataset), draw=plan.draws)


def cell_files(template):
    """A function for the files of this template of all training jobs of an experiment, in the order of its tables."""

    def files(wildcards):
        plan = PLANS[wildcards.experiment]
        parts = [part for part, _ in plan.parts(STUDY.seeds_per_job)]
        cells = dict(experiment=plan.name, ratio=plan.ratios, method=plan.methods, part=parts)
        return expand(template, **cells)

    return files


def trial_file(suffix):
    """A function for a gathered file of the search that chooses the settings of a data set."""
    return lambda wildcards: f"<results>/gathered/{SEARCH_OF[wildcards.dataset]}{suffix}"


def experiment_data(file):
    """A function for the files of this name in the folders of the data draws of an experiment."""

    def files(wildcards):
        plan = PLANS[wildcards.experiment]
        folder = f"<results>/data/{plan.dataset}/{{ratio}}-draw{{draw}}"
        return expand(f"{folder}/{file}", ratio=plan.ratios, draw=plan.draws)

    return files


def product_sources(wildcards):
    """The gathered files that a table or figure is made from, and what it reads of the project's own."""
    product = PRODUCTS[wildcards.name]
    return [*(f"<results>/{path}" for path in product.sources), *map(project, product.resources)]


def product_title(wildcards):
    """What a table or figure shows, for its caption in the report."""
    return PRODUCTS[wildcards.name].caption


def product_note(wildcards):
    """What the caption of a table or figure in the report says besides."""
    return PRODUCTS[wildcards.name].note


def product_category(wildcards):
    """The part of the report that lists a table or figure."""
    return PRODUCTS[wildcards.name].category


def product_labels(wildcards):
    """How the report lists a table or figure; of a second label with two values it would make a switch."""
    return {"what": product_title(wildcards)}


def product_names(kind):
    """The names of all tables or all figures as a pattern, so that a misspelt one is no file of the workflow."""
    return "|".join(name for name, product in PRODUCTS.items() if product.kind == kind) or "none"


def gene_lists():
    """The names of the genes that Table 2 is compared by, of the data that its experiments train on."""
    entries = [STUDY.experiments[name] for name in ("golub_splits", "golub_nearest") if name in JUDGED]
    return expand("<results>/data/{dataset}/genes.csv", dataset=dict.fromkeys(entry.dataset for entry in entries))
