"""Methods and data sets of one's own, found and checked without importing them, because a method imports torch."""

import ast
import importlib.util
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from eflops.config.messages import unknown

BUILT_IN = "eflops.training.methods"
# What eflops.training.methods.base asks of a method.
PARTS = ("start", "download", "update", "aggregate", "effective")
# What eflops.data.build hands to a builder: settings, ratio, seed and the folder of downloaded files.
HANDED = 4


def built_in_mistakes(name: str, place: str) -> Iterator[str]:
    """Whether there is a built-in method of this name."""
    module = f"{BUILT_IN}.{name}"
    source = _source(module)
    if source is None:
        yield f"{place}: there is no module {module}; {_right('methods')}."
    elif "Method" not in _names(_tree(source)):
        yield f"{place}: {module} is no method but a part of some; {_right('methods')}."


def name_mistakes(path: str, place: str) -> Iterator[str]:
    """Whether "module:name" leads to a file that Python can read and that has the name."""
    module, _, name = path.partition(":")
    source = _source(module)
    if source is None:
        yield f"{place}: there is no module {module}; {_right(place.partition('.')[0])}."
        return
    try:
        tree = _tree(source)
    except SyntaxError as error:
        yield f"{place}: {source}, line {error.lineno}: Python cannot read this ({error.msg})."
        return
    except (UnicodeDecodeError, ValueError):
        yield f"{place}: {source} is not a Python file in UTF-8."
        return
    names = _names(tree)
    if "*" not in names and name not in names:
        yield unknown(place, name, names)


def part_mistakes(path: str, place: str) -> Iterator[str]:
    """Whether the class has all that a method needs, its own or of a base class, where its files say what it has."""
    module, _, name = path.partition(":")
    source = _source(module)
    try:
        parts = _parts(source, name) if source else None
    except (SyntaxError, ValueError, RecursionError):  # a base class in a file that Python cannot read, or of itself
        parts = None
    lacking = [] if parts is None else [part for part in PARTS if part not in parts]
    if lacking:
        right = f"a method has {', '.join(PARTS)}, as docs/adding-a-method.md shows"
        yield f"{place}: the class {name} in {source} lacks {', '.join(lacking)}; {right}."


def builder_mistakes(path: str, place: str) -> Iterator[str]:
    """Whether a data set's function can be called with what it is handed."""
    module, _, name = path.partition(":")
    source = _source(module)
    for node in _tree(source).body if source else ():
        if isinstance(node, ast.FunctionDef) and node.name == name:
            most = len(node.args.posonlyargs) + len(node.args.args)
            least = most - len(node.args.defaults)
            if least > HANDED or (most < HANDED and not node.args.vararg):
                right = "(settings, ratio, seed, raw), as docs/adding-a-dataset.md shows"
                yield f"{place}: the function {name} in {source} cannot be called with {right}."


def option_mistakes(path: str, options: Mapping[str, Any], place: str) -> Iterator[str]:
    """Whether the class takes these options, where its own `__init__` says what it takes."""
    module, _, name = path.partition(":")
    source = _source(module)
    taken = _arguments(_tree(source), name) if source else None
    for option in options:
        if taken is not None and option not in taken:
            yield unknown(place, option, taken)


def _right(kind: str) -> str:
    if kind in ("datasets", "products"):
        return "put its file beside the Snakefile, or install it, and name 'module:function'"
    return f"name a method of {BUILT_IN} or 'module:Class', whose file stands beside the Snakefile"


def _source(module: str) -> Path | None:
    """The Python file of a module; None where there is none."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, AttributeError, ValueError, SyntaxError):
        return None
    return Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None


def _tree(source: Path) -> ast.Module:
    return ast.parse(source.read_text(encoding="utf-8"), str(source))


def _names(tree: ast.Module) -> set[str]:
    """What a module defines or imports at its top level; "*" where it imports everything of another."""
    names: set[str] = set()
    for node in tree.body:
        own = isinstance(node, ast.ClassDef | ast.FunctionDef)
        for part in [node] if own else ast.walk(node):
            if isinstance(part, ast.ClassDef | ast.FunctionDef):
                names.add(part.name)
            elif isinstance(part, ast.Import | ast.ImportFrom):
                names |= {alias.asname or alias.name.partition(".")[0] for alias in part.names}
            elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                names.add(part.id)
    return names


def _arguments(tree: ast.Module, name: str) -> set[str] | None:
    """The options that a class's own `__init__` takes after `self` and the task; None where anything may be given."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            for part in node.body:
                if isinstance(part, ast.FunctionDef) and part.name == "__init__" and part.args.kwarg is None:
                    return {argument.arg for argument in [*part.args.args[2:], *part.args.kwonlyargs]}
    return None


def _parts(source: Path, name: str) -> set[str] | None:
    """What a class and its base classes define, by their files; None where that cannot be told."""
    tree = _tree(source)
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name and not node.decorator_list and not node.keywords:
            found = {part.name for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)}
            found |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and _stored(part)}
            found |= {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute) and _stored(part)}
            bases = [_parts(source, base.id) if isinstance(base, ast.Name) else None for base in node.bases]
            known = [base for base in bases if base is not None]
            return None if len(known) < len(bases) or "__getattr__" in found else found.union(*known)
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    origin = _source(node.module)
                    return _parts(origin, alias.name) if origin else None
    return None


def _stored(part: ast.Name | ast.Attribute) -> bool:
    return isinstance(part.ctx, ast.Store)
