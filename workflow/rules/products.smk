# Tables and figures, from gathered records alone.


def product_files(kind):
    """The files of all tables or all figures."""
    return [f"{RESULTS}/{path}" for product in PRODUCTS.values() if product.kind == kind for path in product.files]


def product_sources(wildcards):
    """The gathered files that a table or figure is made from, and what it reads of the project's own."""
    product = PRODUCTS[wildcards.name]
    return [*(f"{RESULTS}/{path}" for path in product.sources), *product.resources]


def product_code(wildcards):
    """The name of the code that makes a table or figure."""
    return code_hash("eflops.analysis.products", PRODUCTS[wildcards.name].module)


def product_labels(wildcards):
    """How the report names a table or figure."""
    return {"what": PRODUCTS[wildcards.name].title}


# What tables and figures must know of the config: how methods are called, and which train on pooled data.
CONTEXT = json.dumps(
    {
        "labels": {name: entry.label for name, entry in STUDY.methods.items()},
        "pooled": [name for name, entry in STUDY.methods.items() if entry.pooled],
    }
)


rule table:
    input:
        product_sources,
    output:
        csv=f"{RESULTS}/tables/{{name}}.csv",
        markdown=report(
            f"{RESULTS}/tables/{{name}}.md",
            caption="../report/table.rst",
            category=lambda wildcards: PRODUCTS[wildcards.name].category,
            labels=product_labels,
        ),
        latex=f"{RESULTS}/tables/{{name}}.tex",
    log:
        f"{RESULTS}/logs/tables/{{name}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/tables/{{name}}.tsv"
    params:
        context=CONTEXT,
        code=product_code,
    resources:
        mem_mb=500,
        runtime=5,
    message:
        "Table {wildcards.name}"
    shell:
        PYTHON + " table {wildcards.name} --results " + RESULTS + " --context {params.context:q}"
        " --out {output:q} > {log:q} 2>&1"


rule figure:
    input:
        product_sources,
    output:
        svg=report(
            f"{RESULTS}/figures/{{name}}.svg",
            caption="../report/figure.rst",
            category=lambda wildcards: PRODUCTS[wildcards.name].category,
            labels=product_labels,
        ),
        pdf=f"{RESULTS}/figures/{{name}}.pdf",
        png=f"{RESULTS}/figures/{{name}}.png",
        csv=f"{RESULTS}/figures/{{name}}.csv",
    log:
        f"{RESULTS}/logs/figures/{{name}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/figures/{{name}}.tsv"
    params:
        context=CONTEXT,
        code=product_code,
    resources:
        mem_mb=500,
        runtime=5,
    message:
        "Figure {wildcards.name}"
    shell:
        PYTHON + " figure {wildcards.name} --results " + RESULTS + " --context {params.context:q}"
        " --out {output:q} > {log:q} 2>&1"
