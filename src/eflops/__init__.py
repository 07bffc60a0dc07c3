"""E-FLoPS, reproduced: training, analysis and provenance behind the Snakemake workflow."""
