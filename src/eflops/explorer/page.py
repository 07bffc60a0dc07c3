"""The page: one HTML file with its style, its scripts with their licences, and its data as compressed JSON."""

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Generic, TypedDict, TypeVar

import jinja2
from markupsafe import Markup

from eflops.files import canonical_json, sha256_bytes

HERE = files("eflops.explorer")
# In the order in which they build on one another.
SCRIPTS = ("base", "data", "charts", "tables", "product", "cell", "run", "lines", "compare", "moved", "main")
VENDOR = {"d3.min.js": "LICENSE.d3", "plot.umd.min.js": "LICENSE.plot"}

Item = TypeVar("Item")
# What a screen shows, and what `eflops explain` prints.
DIGITS = 4


def render(first: Mapping[str, object], parts: Mapping[str, object]) -> str:
    """The whole page; `first` is the static content of the home page, `parts` the data that scripts read."""
    scripts = [*map(_vendored, VENDOR), *(_text(f"page/{name}.js") for name in SCRIPTS)]
    return _template("page.html.j2").render(
        **first,
        style=Markup(_text("page/style.css")),
        policy=_policy(scripts),
        scripts=[Markup(script) for script in scripts],
        parts={name: Markup(packed(value)) for name, value in parts.items()},
    )


def assets_hash() -> str:
    """The hash of the page's templates, style, scripts and libraries."""
    names = sorted(f"{folder}/{path.name}" for folder in ("page", "vendor") for path in HERE.joinpath(folder).iterdir())
    return sha256_bytes("".join(map(_text, names)).encode())


def _template(name: str) -> jinja2.Template:
    loader = jinja2.FunctionLoader(lambda path: _text(f"page/{path}"))
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(kind=_kind)
    return environment.get_template(name)


def _text(name: str) -> str:
    return HERE.joinpath(name).read_text(encoding="utf-8")


def _vendored(name: str) -> str:
    """A library's script below its licence."""
    return f"/*\n{_text(f'vendor/{VENDOR[name]}')}*/\n{_text(f'vendor/{name}')}"


def _policy(scripts: list[str]) -> str:
    """The content security policy: run only these scripts, load nothing, show only pictures made on the page."""
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:"


def _kind(verdict: str) -> str:
    """A verdict as a CSS class."""
    return re.sub(r"[^a-z]+", "-", verdict.casefold())


def packed(value: object) -> str:
    """A JSON value, compressed and in base64; the page inflates it with the browser's DecompressionStream."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


class Coded(TypedDict, Generic[Item]):
    """A column as its distinct values `of` and each entry's index among them, `at`."""

    of: list[Item]
    at: list[int]


def coded(values: Iterable[Item]) -> Coded[Item]:
    """The coded form of a column."""
    # By their JSON, because True, 1 and 1.0 are one key of a dict.
    entries = [(canonical_json(value), value) for value in values]
    distinct = dict(entries)
    indices = {name: index for index, name in enumerate(distinct)}
    return {"of": list(distinct.values()), "at": [indices[name] for name, _ in entries]}


def rounded(value: float | None, digits: int = DIGITS) -> float | int | None:
    """A number with few significant digits; whole numbers as integers, which are shorter in JSON."""
    if value is None or value != value or value in (float("inf"), float("-inf")):
        return None
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def steps(numbers: Sequence[int]) -> list[int]:
    """Ascending integers as the first one and the steps between them, which compress well."""
    return [number - before for before, number in zip([0, *numbers], numbers, strict=False)]
