"""The identity of the code: a content hash of the modules that a job can reach.

Comments, docstrings, descriptions of settings and formatting are ignored, so an edit that cannot change a number does
not change the hash. Imports are followed through the syntax tree, also inside functions, without importing anything.
Modules that are looked up by name at run time (the method, the model, the data set) are additional roots.
"""

import ast
import importlib.util
from functools import cache
from importlib.machinery import PathFinder
from itertools import accumulate
from pathlib import Path

from eflops import trust
from eflops.files import canonical_json, sha256_bytes

PACKAGE = "eflops"
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
# The methods that eflops.training.engines.reference has; a test compares them.
REFERENCE_METHODS = ("eflops", "fedavg", "feddualavg", "fediht", "fediterht")


def code_hashes(*roots: str) -> dict[str, str]:
    """The content hash of every module of this project that the roots can reach, by module name."""
    packages = {PACKAGE, *(root.split(".")[0] for root in roots)}
    # A module beside a custom file belongs to it; one beside an installed file is another package.
    custom = [file for root in roots if root.split(".")[0] != PACKAGE and (file := _source(root))]
    folders = {file.parent for file in custom if "site-packages" not in file.parts}
    hashes: dict[str, str] = {}
    waiting = list(roots)
    while waiting:
        module = waiting.pop()
        if module in hashes or (module.split(".")[0] not in packages and not folders):
            continue
        source = _source(module)
        if source is None or (module.split(".")[0] not in packages and source.parent not in folders):
            continue
        hashes[module] = file_hash(source)
        waiting.extend(_imports(source, module))
    # The order of discovery depends on the roots, and the combined hash must not.
    return dict(sorted(hashes.items()))


def code_hash(*roots: str) -> str:
    """One short hash of all code that the roots can reach."""
    return combined(code_hashes(*roots))


def combined(hashes: dict[str, str]) -> str:
    """One short hash of several modules' hashes."""
    return sha256_bytes(canonical_json(hashes).encode())[:16]


def module_file(module: str) -> Path | None:
    """The file of a module, found without importing it or its parent packages; None if there is no Python file."""
    top, *below = module.split(".")
    if not all(part.isidentifier() for part in (top, *below)):
        return None
    own = trust.own_folder()
    try:
        # The top package alone: to find a submodule, importlib would import its parents.
        spec = importlib.util.find_spec(top) or (PathFinder.find_spec(top, [str(own)]) if own else None)
    except (ImportError, AttributeError, ValueError):
        return None
    if spec is None:
        return None
    if not below:
        return Path(spec.origin) if spec.origin and spec.origin.endswith(".py") else None
    stems = [Path(folder).joinpath(*below) for folder in spec.submodule_search_locations or ()]
    candidates = (path for stem in stems for path in (stem.with_name(f"{stem.name}.py"), stem / "__init__.py"))
    return next((path for path in candidates if path.exists()), None)


_source = cache(module_file)


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@cache
def file_hash(path: Path) -> str:
    """The content hash of one Python file."""
    return sha256_bytes(ast.dump(_without_words(_tree(path))).encode())[:16]


def _without_words(tree: ast.Module) -> ast.Module:
    """The tree without docstrings and descriptions of settings, which no number depends on."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Field":
            node.keywords = [keyword for keyword in node.keywords if keyword.arg != "description"]
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            # The cached tree is changed in place; `_imports`, which shares it, looks at no docstring.
            node.body = node.body[1:]
    return tree


@cache
def _imports(path: Path, module: str) -> tuple[str, ...]:
    """Every module that a module's file imports, with its parent packages, which are imported first."""
    names: list[str] = []
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    # All imports, also in functions and under conditions: one too many makes a job run again, one too few a wrong
    # number.
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            # Relative imports are resolved, because the files beside a custom method may use them.
            above = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            # An imported name may be a module or not; one that is none has no file and is passed over.
            names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return tuple(dict.fromkeys(part for name in names for part in accumulate(name.split("."), "{}.{}".format)))


def training_roots(method: str, model: str, engine: str) -> tuple[str, ...]:
    """The modules that a training job starts from."""
    modules = (
        name.split(":")[0] if ":" in name else f"eflops.training.{kind}.{name}"
        for kind, name in (("models", model), ("methods", method))
    )
    # Looked up by name, so that training imports nothing of Flower.
    module = "eflops.flower.simulation" if engine == "flower" else f"eflops.training.engines.{engine}"
    return ("eflops.training.train", module, *modules)


def engine_of(engine: str, model: str, method: str, shared_gates: bool = False) -> str:
    """The engine that trains. Only the reference engine has shared gates.

    It also trains custom torch modules instead of the batched engine, because they have no compiled form. A method
    that the reference engine does not have runs on the batched one, with gradients by autograd.
    """
    plain = ":" in model and engine == "batched" and method in REFERENCE_METHODS
    return "reference" if plain or shared_gates else engine


@cache
def training_hashes(method: str, model: str, engine: str) -> dict[str, str]:
    """The content hash of every module that a training job can reach, by module name."""
    return code_hashes(*training_roots(method, model, engine))


def data_module(kind: str) -> str:
    """The module that builds data of this kind."""
    return kind.split(":")[0] if ":" in kind else f"eflops.data.{kind}"
