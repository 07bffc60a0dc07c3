"""Print what studies of three sizes would cost, as a table for docs/cluster.md: python docs/costs.py"""

from pathlib import Path

from eflops.config.load import read
from eflops.provenance.anew import cost, resized
from eflops.provenance.times import told

PUBLISHED = Path("results/published")
STUDIES = {
    "the paper": {},
    "1000 seeds, 30 a job": {"seeds": 1000, "seeds_per_job": 30},
    "d = 100,000": {"features": 100_000},
}


def main() -> None:
    """A row a study."""
    config = read(Path("config.yaml"))
    print("| study | jobs | CPU hours | on 2 cores | on 100 cores |\n| --- | --- | --- | --- | --- |")
    for name, sizes in STUDIES.items():
        study = resized(config, **{"seeds": None, "features": None, "seeds_per_job": None, **sizes})
        few, many = (cost(study, PUBLISHED, cores) for cores in (2, 100))
        unknown = f" and {many.unknown} never measured" if many.unknown else ""
        print(f"| {name} | {many.jobs}{unknown} | {many.cpu_hours:.1f} | {told(few.seconds)} | {told(many.seconds)} |")


if __name__ == "__main__":
    main()
