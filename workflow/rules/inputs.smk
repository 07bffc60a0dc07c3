# What rules are given: their input files and params. Each gets its own slice of the config and nothing more.


def raw_files(wildcards):
    """The downloaded files a data set is made from; none for most."""
    source = getattr(STUDY.datasets[wildcards.dataset], "source", None)
    return [local(f"resources/{source}/{name}") for name in IDX_FILES] if source else []


def raw_folder(wildcards):
    """The folder of those files, as an argument."""
    source = getattr(STUDY.datasets[wildcards.dataset], "source", None)
    return f"--raw resources/{source}" if source else ""


def data_settings(wildcards):
    """What a data draw depends on, as JSON."""
    entry = STUDY.datasets[wildcards.dataset]
    return json.dumps(
        entry.model_dump(mode="json", exclude={"label", "model", "client_fraction", "settings_like"}),
        sort_keys=True,
    )


def cell_data(wildcards):
    """The manifests of the data draws that a cell trains on; their hashes name the data."""
    plan = PLANS[wildcards.experiment]
    folders = [cells.data_label(wildcards.ratio, draw) for draw in plan.draws]
    return [f"{RESULTS}/data/{plan.dataset}/{folder}/manifest.json" for folder in folders]


def cell_arrays(wildcards):
    """The arrays beside the manifests; a manifest changes whenever its arrays do, so that their age does not matter."""
    return [path.replace("manifest.json", "federation.npz") for path in cell_data(wildcards)]


def cell_job(wildcards):
    """A cell's slice of the config, as JSON."""
    return json.dumps(
        cells.job(STUDY, wildcards.experiment, wildcards.ratio, wildcards.method),
        sort_keys=True,
    )


def cell_code(wildcards):
    """The name of the code that a cell's training can reach."""
    plan = PLANS[wildcards.experiment]
    roots = training_roots(
        STUDY.methods[wildcards.method].method,
        STUDY.datasets[plan.dataset].model,
        STUDY.engine,
    )
    return code_hash(*roots)


def plan_records(wildcards):
    """The records of all cells of an experiment."""
    return records_of(PLANS[wildcards.experiment])


def records_of(plan):
    """The records of all cells of a plan."""
    return [
        f"{RESULTS}/runs/{plan.name}/{ratio}/{method}/{run.path}"
        for ratio in plan.ratios
        for method in plan.methods
        for run in plan.runs
    ]


def product_records():
    """The records behind all tables and figures: one that is gone is trained again although nothing else is due."""
    names = dict.fromkeys(name for product in PRODUCTS.values() for name in product.experiments)
    return [path for name in names for path in records_of(PLANS[name])]


def searched_settings(wildcards):
    """Which settings a search sets for each method, as JSON."""
    search = STUDY.searches[SEARCH_OF[wildcards.dataset]]
    common, own = [*search.settings, *search.ranges], search.method_ranges
    return json.dumps({name: [*common, *own.get(name, {})] for name in search.methods})


def experiment_references(wildcards):
    """The references of every data draw that an experiment trains on."""
    plan = PLANS[wildcards.experiment]
    return [
        f"{RESULTS}/references/{plan.dataset}/{cells.data_label(ratio, draw)}/{name}.json"
        for ratio in plan.ratios
        for draw in plan.draws
        for name in REFERENCES
    ]


def product_files(kind):
    """The files of all tables or all figures."""
    return [f"{RESULTS}/{path}" for product in PRODUCTS.values() if product.kind == kind for path in product.files]


def product_sources(wildcards):
    """The gathered files that a table or figure is made from, and what it reads of the project's own."""
    product = PRODUCTS[wildcards.name]
    return [*(f"{RESULTS}/{path}" for path in product.sources), *map(local, product.resources)]


def product_code(wildcards):
    """The name of the code that makes a table or figure."""
    return code_hash("eflops.analysis.products", PRODUCTS[wildcards.name].module)


def product_title(wildcards):
    """What a table or figure shows, for its caption in the report."""
    return PRODUCTS[wildcards.name].title


def product_labels(wildcards):
    """How the report lists a table or figure; of a second label with two values it would make a switch."""
    return {"what": product_title(wildcards)}
