# Tables and figures, from gathered records alone.


rule table:
    """Make one table as CSV, Markdown, LaTeX and HTML."""
    input:
        product_sources,
        spec=local("<wanted>/tables/{name}.json"),
    output:
        csv="<results>/tables/{name}.csv",
        markdown="<results>/tables/{name}.md",
        latex="<results>/tables/{name}.tex",
        html=report(
            "<results>/tables/{name}.html",
            caption="../report/product.rst",
            category=product_category,
            subcategory="Tables",
            labels=product_labels,
        ),
        spec="<results>/specs/tables/{name}.json",
    log:
        "<logs>/tables/{name}.log",
    benchmark:
        "<benchmarks>/tables/{name}.tsv"
    wildcard_constraints:
        name=product_names("table"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        results=subpath(output.csv, ancestor=2),
        title=product_title,
        note=product_note,
        spec=spec_digest,
    message:
        "Table {wildcards.name}"
    script:
        "../scripts/table.py"


rule figure:
    """Draw one figure as SVG, PDF and PNG, with its numbers as CSV."""
    input:
        product_sources,
        spec=local("<wanted>/figures/{name}.json"),
    output:
        svg=report(
            "<results>/figures/{name}.svg",
            caption="../report/product.rst",
            category=product_category,
            subcategory="Figures",
            labels=product_labels,
        ),
        pdf="<results>/figures/{name}.pdf",
        png="<results>/figures/{name}.png",
        csv="<results>/figures/{name}.csv",
        spec="<results>/specs/figures/{name}.json",
    log:
        "<logs>/figures/{name}.log",
    benchmark:
        "<benchmarks>/figures/{name}.tsv"
    wildcard_constraints:
        name=product_names("figure"),
    localrule: True
    conda:
        "../../envs/analysis.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    params:
        results=subpath(output.csv, ancestor=2),
        title=product_title,
        note=product_note,
        spec=spec_digest,
    message:
        "Figure {wildcards.name}"
    script:
        "../scripts/figure.py"
