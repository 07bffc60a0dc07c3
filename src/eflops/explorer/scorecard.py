"""The scorecard as the page's first sight: sections as tables, every line a link to its runs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eflops.analysis import text
from eflops.analysis.scorecard import words
from eflops.analysis.scorecard.verdict import Value
from eflops.files import read_json

NAME = "scorecard.json"
Line = Mapping[str, Any]


def read_card(folder: Path) -> dict[str, Any] | None:
    """The scorecard of a results folder, None where there is none."""
    return dict(read_json(folder / NAME)) if (folder / NAME).exists() else None


def sections(card: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The card's sections in order: a table of numbers by row and column, or a list of claims."""
    return [_section(card, name) for name in card["sections"]]


def _section(card: Mapping[str, Any], name: str) -> dict[str, Any]:
    lines = [line for line in card["lines"] if line["section"] == name]
    columns = list(dict.fromkeys(line["column"] for line in lines))
    cells = {(line["row"], line["column"]): _shown(line) for line in lines}
    return {
        "name": name,
        "counts": card["sections"][name],
        "matrix": any(columns),
        "columns": [card["labels"].get(column, column) for column in columns],
        "rows": [
            {"name": row, "cells": [cells.get((row, column)) for column in columns]}
            for row in dict.fromkeys(line["row"] for line in lines)
        ],
    }


def _shown(line: Line) -> dict[str, Any]:
    """A line with its numbers as they are written."""
    pairs = {
        "ours": "; ".join(map(_ours, line["ours"])) or text.ABSENT,
        "paper": _printed(line.get("paper")),
        "differ": "" if line.get("difference") is None else text.signed(line["difference"]),
    }
    return {
        "id": line["id"],
        "text": line["text"],
        "verdict": line["verdict"],
        "reason": line["reason"],
        "values": [f"{value['name']}: {_ours(value)}" for value in line["ours"]],
        "pairs": {name: text for name, text in pairs.items() if text},
    }


def _ours(value: Mapping[str, Any]) -> str:
    return words.ours(Value(**value))


def _printed(paper: Mapping[str, Any] | None) -> str:
    if not paper:
        return ""
    return text.judged(paper["value"]) + ("" if paper["sd"] is None else f" ± {text.judged(paper['sd'])}")
