"""E-FLoPS, reproduced: training, analysis and provenance behind the Snakemake workflow."""

__version__ = "0.1.0"
