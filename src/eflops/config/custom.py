"""Custom methods, models, data sets and products, checked without importing them, because a method imports torch."""

import ast
import copy
import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from eflops.code import module_file
from eflops.config.messages import unknown

BUILT_IN = "eflops.training.methods"
# A class that is its own base has no end.
MOST_BASES = 20
# How functions that build data and models are called.
BUILD_DATA, BUILD_MODEL = ("settings", "ratio", "seed", "raw"), ("shape", "classes")
Definition = ast.ClassDef | ast.FunctionDef


def built_in_mistakes(name: str, key_path: str) -> Iterator[str]:
    """Mistakes in the name of a built-in method."""
    module = f"{BUILT_IN}.{name}"
    source = module_file(module)
    if source is None:
        yield f"{key_path}: there is no module {module}; {_right('methods')}."
    elif "Method" not in _names(_tree(source)):
        yield f"{key_path}: {module} is not a method but a helper module of methods; {_right('methods')}."


def method_mistakes(path: str, options: Mapping[str, object], key_path: str) -> Iterator[str]:
    """Mistakes in "module:Class": it must be a class with all parts of a method that accepts these options."""
    absent = _name_mistakes(path, f"{key_path}.method")
    if absent:
        yield from absent
        return
    module, _, name = path.partition(":")
    parts, needed = _parts(module, name, promised=False), _parts(f"{BUILT_IN}.base", "Method") or set()
    missing = [] if parts is None or "__getattr__" in parts else sorted(needed - parts - {"__init__"})
    if missing:
        yield f"{key_path}.method: {path} has no {_listed(missing)}; {BUILT_IN}.base lists the parts of a method."
    yield from _option_mistakes(path, options, f"{key_path}.options")


def _option_mistakes(path: str, options: Mapping[str, object], key_path: str) -> Iterator[str]:
    """Mistakes in the options of a class, if its `__init__` declares them."""
    node = _defined(*path.split(":"))[1]
    for part in node.body if isinstance(node, ast.ClassDef) else []:
        if isinstance(part, ast.FunctionDef) and part.name == "__init__" and part.args.kwarg is None:
            taken = [*_signature(part).parameters][2:]
            strange = [unknown(key_path, option, taken) for option in options if option not in taken]
            yield from strange or _bind_mistakes(part, ("self", "task"), options, path, key_path)


def function_mistakes(path: str, key_path: str, given: Sequence[str], named: Iterable[str] = ()) -> list[str]:
    """Mistakes in "module:function": it must be a function that accepts these arguments, the last ones by name."""
    absent = _name_mistakes(path, key_path)
    node = None if absent else _defined(*path.split(":"))[1]
    return _bind_mistakes(node, given, [*named], path, key_path) if isinstance(node, ast.FunctionDef) else absent


def _name_mistakes(path: str, key_path: str) -> list[str]:
    """Mistakes in "module:name": the file must exist, be valid Python and define the name."""
    module, _, name = path.partition(":")
    source = module_file(module)
    if source is None:
        return [f"{key_path}: there is no module {module}; {_right(key_path.partition('.')[0])}."]
    try:
        names = _names(_tree(source))
    except SyntaxError as error:
        return [f"{key_path}: {source}, line {error.lineno}: Python cannot read this ({error.msg})."]
    except (UnicodeDecodeError, ValueError):
        return [f"{key_path}: {source} is not a Python file in UTF-8."]
    return [] if "*" in names or name in names else [unknown(key_path, name, names)]


def _bind_mistakes(
    function: ast.FunctionDef, given: Sequence[str], named: Iterable[str], path: str, key_path: str
) -> list[str]:
    try:
        _signature(function).bind(*given, **dict.fromkeys(named))
    except TypeError as error:
        return [f"{key_path}: {path} cannot be called with {_listed([*given, *named])}: {error}."]
    return []


def _signature(function: ast.FunctionDef) -> inspect.Signature:
    """The signature of a function without annotations and the values of defaults."""
    taken = copy.deepcopy(function.args)
    for argument in ast.walk(taken):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    taken.defaults = [ast.Constant(None) for _ in taken.defaults]
    taken.kw_defaults = [default and ast.Constant(None) for default in taken.kw_defaults]
    # A lambda with the same arguments has the same signature, and making it runs none of the user's code.
    same = ast.fix_missing_locations(ast.Expression(ast.Lambda(taken, ast.Constant(None))))
    return inspect.signature(eval(compile(same, "signature", "eval")))


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _right(kind: str) -> str:
    if kind != "methods":
        return "put its file beside the Snakefile or install it, and write 'module:function'"
    files = sorted(Path(__file__).parents[1].glob("training/methods/*.py"))
    defined = {file.stem: _defined(f"{BUILT_IN}.{file.stem}", "Method") for file in files if file.stem != "base"}
    names = [name for name, (module, node) in defined.items() if node and module == f"{BUILT_IN}.{name}"]
    custom = "'module:Class' in a file beside the Snakefile"
    return f"name a method of {BUILT_IN} or {custom}; the methods are {_listed(names)}"


def _tree(source: Path) -> ast.Module:
    return ast.parse(source.read_text(encoding="utf-8"), str(source))


def _names(tree: ast.Module) -> set[str]:
    """The names that a module defines or imports at its top level; "*" if it imports everything from another."""
    names: set[str] = set()
    for node in tree.body:
        for part in [node] if isinstance(node, Definition) else ast.walk(node):
            if isinstance(part, Definition):
                names.add(part.name)
            elif isinstance(part, ast.Import | ast.ImportFrom):
                names |= {alias.asname or alias.name.partition(".")[0] for alias in part.names}
            elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                names.add(part.id)
    return names


def _defined(module: str, name: str) -> tuple[str, Definition | None]:
    """The class or function of this name in a module, defined there or imported, and the module that defines it."""
    source = module_file(module)
    try:
        body = _tree(source).body if source else []
    except (SyntaxError, ValueError):
        body = []
    for node in body:
        if isinstance(node, Definition) and node.name == name:
            return module, node
    home, _, original = _imported(body).get(name, "").rpartition(".")
    return _defined(home, original) if home else (module, None)


def _imported(body: Iterable[ast.stmt]) -> dict[str, str]:
    """The imports of a module: local name to full name."""
    names: dict[str, str] = {}
    for node in body:
        if isinstance(node, ast.Import):
            names |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return names


def _parts(module: str, name: str, depth: int = 0, promised: bool = True) -> set[str] | None:
    """The members of a class and its bases, including attributes of `self`; None if the syntax tree is not enough.

    promised: whether members declared by the protocol of methods count; a class that inherits from it does not
    define them.
    """
    module, node = _defined(module, name)
    if not isinstance(node, ast.ClassDef) or depth > MOST_BASES:
        return None
    parts = {part.name for part in node.body if isinstance(part, Definition)}
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
            parts.add(part.attr)
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            parts.add(part.id)
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id in ("Protocol", "object"):
            continue
        home, class_ = _base(module, base)
        if not promised and _defined(home, class_)[0] == f"{BUILT_IN}.base":
            continue
        inherited = _parts(home, class_, depth + 1, promised)
        if inherited is None:
            return None
        parts |= inherited
    return parts


def _base(module: str, base: ast.expr) -> tuple[str, str]:
    """The module and name of a base class, written as `Method` or as `fedavg.Method`; an empty name otherwise."""
    if isinstance(base, ast.Name):
        return module, base.id
    if not isinstance(base, ast.Attribute):
        return module, ""
    source = module_file(module)
    home = _imported(_tree(source).body if source else []).get(ast.unparse(base.value))
    return (home, base.attr) if home else (module, "")
