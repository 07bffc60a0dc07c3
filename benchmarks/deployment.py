"""Seconds per round of a real federation on this machine: a SuperLink and three SuperNodes, as `eflops deploy` starts.

A round is the time from one finished round to the next, by the server's state files. CPU time is that of all processes
between the first and the last of these, by kind of process. What a node itself does with a message, which is all that
Flower does not do, is timed inside its ClientApp.

    python benchmarks/deployment.py [--rounds 20] [--port 8300] [--csv benchmarks/deployment.csv] [--show]
"""

import argparse
import csv
import os
import tempfile
import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from statistics import median
from threading import Thread

import psutil

from eflops.flower.deploy import Demonstration
from eflops.flower.hosts import Hosts
from eflops.flower.plan import make_draw, plan

KINDS = {
    "flower-superlink": "SuperLink",
    "flwr-serverapp": "ServerApp",
    "flower-supernode": "SuperNodes",
    "eflops.flower.superexec": "SuperExecs of the nodes, with their ClientApps",
}
OTHER = "the rest of Flower"
COLUMNS = ("what", "wall", "cpu")
TIMED = """
import os, sys, time
if "eflops.flower.superexec" in " ".join(sys.orig_argv):
    from eflops.flower import client
    answer = client._answer
    def timed(*arguments):
        start = time.perf_counter(), time.process_time()
        done = answer(*arguments)
        with open(os.environ["ANSWER_TIMES"], "a") as log:
            log.write(f"{time.perf_counter() - start[0]} {time.process_time() - start[1]}\\n")
        return done
    client._answer = timed
"""


def measure(rounds: int, port: int, folder: Path) -> list[tuple[str, float, float]]:
    """Median seconds and mean CPU seconds of a round, and what they consist of."""
    settings = f"rounds={rounds} finetune_rounds=0"
    asked = plan({"experiment": "support_recovery", "clients": 3, "fraction": 1.0, "settings": settings}, Path.cwd())
    hosts = Hosts(folder / "hosts", asked, make_draw(asked), ["127.0.0.1"], port)
    hosts.prepare([Path("config.yaml")])
    (folder / "sitecustomize.py").write_text(TIMED)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    os.environ["ANSWER_TIMES"] = str(folder / "answers.txt")
    with Demonstration(hosts) as demonstration:
        running = Thread(target=demonstration.run, args=[print])
        running.start()
        finished: dict[str, float] = {}
        spent: list[dict[str, float]] = []
        while running.is_alive():
            for state in hosts.server.glob("results-flower/state/*/round*.json"):
                with suppress(FileNotFoundError):
                    if state.name not in finished:
                        finished[state.name] = state.stat().st_mtime
                        spent.append(cpu_seconds())
            time.sleep(0.02)
    ends = sorted(finished.values())
    walls = [later - earlier for earlier, later in pairwise(ends)]
    cpu = {kind: (spent[-1][kind] - spent[0][kind]) / len(walls) for kind in spent[0]}
    answers = [tuple(map(float, line.split())) for line in (folder / "answers.txt").read_text().splitlines()]
    return [
        (f"a round, median of {len(walls)}", median(walls), sum(cpu.values())),
        ("the shortest round", min(walls), float("nan")),
        ("the longest round", max(walls), float("nan")),
        ("one ClientApp with its message", median(wall for wall, _ in answers), median(cpu for _, cpu in answers)),
        *((kind, float("nan"), value) for kind, value in cpu.items()),
    ]


def cpu_seconds() -> dict[str, float]:
    """What the processes that this one started have used until now, with those that they waited for, by kind."""
    spent = dict.fromkeys([*KINDS.values(), OTHER], 0.0)
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            command = " ".join(process.cmdline())
            kind = next((name for word, name in KINDS.items() if word in command), OTHER)
            spent[kind] += sum(process.cpu_times()[:4])
    return spent


def main() -> None:
    """Measure and write a CSV, or read it; print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--port", type=int, default=8300)
    parser.add_argument("--csv", type=Path, default=Path("benchmarks/deployment.csv"))
    parser.add_argument("--show", action="store_true", help="print what the CSV holds and measure nothing")
    arguments = parser.parse_args()
    if not arguments.show:
        with tempfile.TemporaryDirectory() as folder:
            rows = measure(arguments.rounds, arguments.port, Path(folder))
        with arguments.csv.open("w", newline="") as file:
            written = [(what, *("" if value != value else round(value, 3) for value in times)) for what, *times in rows]
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *written])
    print("| | s | CPU s |\n| --- | --- | --- |")
    with arguments.csv.open(newline="") as file:
        for row in csv.DictReader(file):
            cells = (f"{float(row[name]):.2f}" if row[name] else "" for name in COLUMNS[1:])
            print(f"| {row['what']} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
