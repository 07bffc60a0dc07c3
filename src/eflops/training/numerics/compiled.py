"""Compile functions of this package to machine code, and cache it for the next process.

The compiler must not change any rounding: it may neither reorder a sum nor fuse a product and a sum into one
instruction. A fused multiply-add is written as `fma`. So the numbers are the same on every processor, whatever its
vectors.

numba knows old machine code by the folder of the function's file and by that file alone. So every copy of the project
would compile for itself, and an edit of a function called in another file would leave the old code in use. Here the
name of the kept code is a hash of all that it depends on: any copy of the same code finds it, and no other does.
"""

import hashlib
import inspect
import os
import pickle
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import FunctionCache
from numba.core.compiler import CompileResult
from numba.core.cpu import CPUContext
from numba.core.serialize import dumps
from numba.core.typing.templates import Signature

from eflops.files import sha256, sha256_bytes, write_bytes

Function = TypeVar("Function", bound=Callable[..., Any])

CONFIG: Any = numba.config

# Division by zero gives inf as in numpy.
OPTIONS: Any = {"error_model": "numpy"}
PACKAGE = Path(__file__).parents[1]
FOLDERS = "methods", "models", "numerics"


def compiled(function: Function) -> Function:
    """Machine code, cached for the next process."""
    made: Any = numba.njit(**OPTIONS)(function)
    made._cache = CodeCache(function)
    return cast(Function, made)


@cache
def folder() -> Path:
    """The cache folder of machine code: NUMBA_CACHE_DIR, the user's cache, the package's own folder, or a temporary
    one."""
    name = f"eflops-{code_name()}"
    users = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "eflops"
    candidates = [Path(path) for path in (CONFIG.CACHE_DIR, users, PACKAGE / "__pycache__") if path]
    for candidate in candidates:
        try:
            (candidate / name).mkdir(parents=True, exist_ok=True)
            # A folder that exists on a read-only disk passes mkdir, so only a file shows that it is writable.
            with tempfile.TemporaryFile(dir=candidate / name):
                return candidate / name
        except OSError:
            continue
    temporary = Path(tempfile.mkdtemp(prefix=f"{name}-"))
    tried = ", ".join(map(str, candidates))
    print(f"No folder for compiled code is writable ({tried}); using {temporary}.", file=sys.stderr)
    return temporary


@cache
def code_name() -> str:
    """A hash of the folders that hold compiled functions."""
    # One name for all folders: the machine code of a function contains that of the functions it calls in other files.
    digest = hashlib.sha256()
    for path in sorted(path for name in FOLDERS for path in (PACKAGE / name).rglob("*.py")):
        digest.update(f"{path.relative_to(PACKAGE)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


class CodeCache(FunctionCache):
    """The cache interface of numba for a function's machine code.

    One file for each, without numba's index of numbered files, which two processes that write at once can mix up.
    """

    def __init__(self, function: Function) -> None:
        self._py_func = function
        self._cache_path = str(folder())
        self._function = f"{function.__module__}.{function.__qualname__}"
        # A custom method's file lies outside these folders, so its own bytes count too.
        self._source = code_name(), sha256(Path(inspect.getfile(function)))

    def load_overload(self, sig: Signature, target_context: CPUContext) -> CompileResult | None:
        """The code for arguments of these types on this processor, if cached."""
        # As in numba's own cache: the context must be initialised before code is rebuilt in it.
        target_context.refresh()
        key = self._index_key(sig, target_context.codegen())
        try:
            kept_for, code = pickle.loads(self._file(key).read_bytes())
            # The file's name has only part of a hash, so the whole key is compared.
            return CompileResult._rebuild(target_context, *code) if kept_for == key else None
        except Exception:  # there is none, or what is there was cut short or is no code: it is compiled again
            return None

    def save_overload(self, sig: Signature, data: CompileResult) -> None:
        """Store the code atomically."""
        key = self._index_key(sig, data.codegen)
        # Two jobs may compile a function at once; the later file replaces an equal one.
        write_bytes(self._file(key), dumps((key, data._reduce())))

    def _file(self, key: tuple[object, ...]) -> Path:
        """Named by all that the code depends on; numba's key holds types, processor and what the function encloses."""
        # The file is a pickle of numba's objects, so another version of numba or Python must not find it.
        depends_on = repr((key, self._source, numba.__version__, sys.version))
        return folder() / f"{self._function}-{sha256_bytes(depends_on.encode())[:16]}.nbc"
