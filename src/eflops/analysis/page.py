"""The look of a table as a page: one skeleton and one style, without script or network.

Templates are Python text, so that the hash of the code, which decides what is made again, covers them.
"""

from typing import Any

from jinja2 import Environment, StrictUndefined

STYLE = """
:root { --ink: #1b1f24; --soft: #59636e; --line: #d8dee4; --paper: #ffffff; --ground: #f6f7f9; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 2rem 1.5rem 4rem; }
h1 { font-size: 1.7rem; margin: 0 0 .3rem; letter-spacing: -.01em; }
p { margin: .3rem 0; max-width: 62rem; }
.soft { color: var(--soft); }
.grid { background: var(--paper); border: 1px solid var(--line); border-radius: .5rem; overflow-x: auto;
  margin-top: .6rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .5rem .8rem; border-top: 1px solid var(--line); }
thead th { border-bottom: 1px solid var(--line); white-space: nowrap; }
@media print { body { background: #fff; font-size: 11px; } main { padding: 0; max-width: none; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""

SKELETON = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ title }}</title>
<style>{{ style | safe }}</style>
</head>
<body>
<main>
<h1>{{ title }}</h1>
{{ body | safe }}
</main>
</body>
</html>
"""
_environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def fill(template: str, **values: Any) -> str:
    """A template filled in; text is escaped."""
    return _environment.from_string(template).render(**values)


def page(title: str, template: str, **values: Any) -> str:
    """A page of its own whose body is a template filled in."""
    return fill(SKELETON, title=title, style=STYLE, body=fill(template, **values)) + "\n"
