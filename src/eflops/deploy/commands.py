"""`eflops deploy`: one run of an experiment on a real federation on this machine."""

import argparse
import json
from pathlib import Path
from typing import Any


def add(commands: Any) -> None:
    """Add the command to the command line."""
    deploy = commands.add_parser("deploy", help="run one run of an experiment on a real federation on this machine")
    deploy.add_argument("--clients", type=int, default=3, help="how many clients the data are dealt to")
    deploy.add_argument("--config", type=Path, nargs="+", default=[Path("config.yaml")])
    deploy.add_argument("--experiment", default="support_recovery")
    deploy.add_argument("--method", default="eflops")
    deploy.add_argument("--ratio", type=float, help="N/d of synthetic data; the experiment's first if not given")
    deploy.add_argument("--variant", help="the experiment's first if not given")
    deploy.add_argument("--draw", type=int, help="the experiment's first if not given")
    deploy.add_argument("--seed", type=int, help="the experiment's first if not given")
    deploy.add_argument("--client-fraction", type=float, help="share of the clients that a round asks")
    deploy.add_argument("--set", type=_setting, nargs="+", default=[], metavar="KEY=VALUE", help="settings to change")
    deploy.add_argument("--on-fault", choices=["stop", "continue", "repeat"], default="continue")
    deploy.add_argument("--timeout", type=float, default=120.0, help="seconds to wait for a client's answer")
    deploy.add_argument("--repeats", type=int, default=2, help="how often --on-fault repeat asks again")
    deploy.add_argument("--folder", type=Path, default=Path("deployment"))
    deploy.set_defaults(run=_deploy)


def _setting(text: str) -> tuple[str, Any]:
    """A setting of the command line; its value is JSON, or else a word."""
    key, separator, value = text.partition("=")
    if not separator:
        raise argparse.ArgumentTypeError(f"{text!r} is no setting; write key=value, such as rounds=20")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def _deploy(parsed: argparse.Namespace) -> None:
    from eflops.deploy.deploy import run

    run(parsed)
