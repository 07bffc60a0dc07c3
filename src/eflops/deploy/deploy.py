"""From the command line to a finished deployment: what is deployed, and the deployment from start to end."""

import argparse
import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from eflops import record
from eflops.config import cells
from eflops.config.load import read
from eflops.config.mistakes import ConfigError, sentences, unknown
from eflops.config.models import Config
from eflops.config.settings import as_typed, settings_class
from eflops.data import build
from eflops.data.federation import Federation
from eflops.deploy.deployment import Deployment
from eflops.deploy.network import Network
from eflops.deploy.processes import Processes
from eflops.engines.flower.grid import Patience
from eflops.errors import UserError

NOT_DATA = {"label", "model", "client_fraction"}


def run(parsed: argparse.Namespace) -> None:
    """Deploy what the command line asks for, and say what came of it."""
    config = read(*parsed.config)
    deployment = plan(config, parsed)
    federation, settings = _data(config, deployment)
    _make_room(deployment.folder)
    deployment.prepare(federation, settings)
    signal.signal(signal.SIGTERM, _leave)
    print(f"{deployment.clients} clients on this machine; logs are in {deployment.folder / 'logs'}", flush=True)
    print(describe(deploy(deployment, _say)), f"record: {deployment.record}", sep="\n")


def deploy(deployment: Deployment, say: Callable[[str], None]) -> record.Record:
    """Start the federation, train the run on it, stop the federation, and give the record that the server wrote.

    say: gets the server's progress and whatever else Flower says, line by line.
    """
    with Processes(deployment.folder / "logs") as processes:
        network = Network(deployment.server, processes)
        network.start_superlink()
        network.register([deployment.public_key(client) for client in range(deployment.clients)])
        for client in range(deployment.clients):
            network.start_node(deployment.node(client), client)
        network.run(deployment.app, say)
        if not deployment.record.exists():
            raise UserError(f"the run failed:\n{processes.last_words('run', 20)}")
    return record.read(deployment.record)


def plan(config: Config, parsed: argparse.Namespace) -> Deployment:
    """The deployment that the command line asks for."""
    _check(config, parsed)
    whole = cells.plan(config, parsed.experiment)
    ratio = whole.ratios[0] if parsed.ratio is None else cells.ratio_label(parsed.ratio)
    job = {**cells.job(config, parsed.experiment, ratio, parsed.method), "engine": "flower"}
    asked = {part: getattr(parsed, part) for part in ("variant", "draw", "seed")}
    run = replace(whole.runs[0], **{part: value for part, value in asked.items() if value is not None})
    if run.variant not in job["variants"]:
        raise UserError(unknown("--variant", run.variant, job["variants"]))
    job["variants"] = {run.variant: _changed(job, run.variant, dict(parsed.set))}
    if parsed.client_fraction is not None:
        job["client_fraction"] = parsed.client_fraction
    patience = Patience(parsed.on_fault, parsed.timeout, parsed.repeats, poll_seconds=0.2)
    return Deployment(parsed.folder, job, run, parsed.clients, patience)


def _check(config: Config, parsed: argparse.Namespace) -> None:
    """Whether there is what the command line names."""
    if parsed.experiment not in config.experiments:
        raise UserError(unknown("--experiment", parsed.experiment, config.experiments))
    if parsed.method not in config.methods:
        raise UserError(unknown("--method", parsed.method, config.methods))
    if config.methods[parsed.method].pooled:
        raise UserError(f"--method {parsed.method} trains on pooled data, so there is nothing to deploy; name another.")
    if parsed.clients < 1:
        raise UserError(f"--clients is {parsed.clients}; a federation has at least one.")
    if parsed.client_fraction is not None and not 0 < parsed.client_fraction <= 1:
        raise UserError(f"--client-fraction is {parsed.client_fraction}; it is a share above 0 and at most 1.")


def describe(found: record.Record) -> str:
    """What came of a run, for people: its metrics, its bytes by both counts, and its faults."""
    sent = {way: sum(phase[way] for phase in found.result.traffic.values()) for way in ("down", "up")}
    carried = found.circumstances.channel
    metrics = ", ".join(f"{name} {value:.4f}" for name, value in found.result.metrics.items())
    lines = [
        f"{found.result.status}: {metrics}",
        f"wire messages: {sent['down']} bytes down, {sent['up']} bytes up",
        f"carried by Flower: {carried['down']} bytes down, {carried['up']} bytes up, {carried['messages']} messages",
        *(f"fault: {fault}" for fault in found.result.faults),
    ]
    return "\n".join(lines)


def _changed(job: dict[str, Any], variant: str, changes: dict[str, Any]) -> dict[str, Any]:
    """The settings of a variant with those of the command line laid over them."""
    model, values = settings_class(job["method"]), {**job["variants"][variant], **changes}
    try:
        return as_typed(model.model_validate(values))
    except ValidationError as error:
        raise ConfigError(sentences(error, values, model, "--set")) from None


def _data(config: Config, deployment: Deployment) -> tuple[Federation, dict[str, Any]]:
    """The data of a deployment, made for its number of clients, and their settings."""
    entry = config.datasets[deployment.job["dataset"]]
    settings = {**entry.model_dump(mode="json", exclude=NOT_DATA), "clients": deployment.clients}
    source, ratio, draw = getattr(entry, "source", None), deployment.job["ratio"], deployment.run.draw
    raw = Path("resources") / source if source else None
    return build(settings, cells.ratio_value(ratio), draw, raw), {**settings, "ratio": ratio, "draw": draw}


def _say(line: str) -> None:
    """The server's progress; the rest of what Flower says stays in the log."""
    if line.startswith("seed "):
        print(line, flush=True)


def _make_room(folder: Path) -> None:
    """An earlier deployment makes room for the next; anything else stays."""
    if (folder / "server" / "plan.json").exists():
        shutil.rmtree(folder)
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"--folder {folder} holds other files; name a folder that is empty or new.")


def _leave(*_: object) -> NoReturn:
    """Being asked to end is an exception like any other, so that all processes are stopped on the way out."""
    sys.exit(143)
