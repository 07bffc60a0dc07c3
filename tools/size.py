"""Print the size of the package and how much of it is untyped: python tools/size.py [FOLDER]

Code lines are those with code on them: no blank lines, comments or docstrings. An argument is untyped where its
annotation holds Any, and an untyped lookup takes a key that is written as text from such an argument.
"""

import ast
import io
import sys
import tokenize
from dataclasses import dataclass
from pathlib import Path

LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass
class Size:
    """What is counted."""

    lines: int = 0
    arguments: int = 0
    untyped: int = 0
    lookups: int = 0


def measure(folder: Path) -> Size:
    """The size of all Python files below a folder."""
    size = Size()
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        size.lines += _code_lines(text, tree)
        for node in ast.walk(tree):
            if isinstance(node, FUNCTION):
                _count_function(node, size)
    return size


def _code_lines(text: str, tree: ast.Module) -> int:
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            lines.difference_update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(lines)


def _count_function(function: ast.FunctionDef | ast.AsyncFunctionDef, size: Size) -> None:
    taken = function.args
    arguments = [each for each in (*taken.posonlyargs, *taken.args, *taken.kwonlyargs) if each.annotation]
    untyped = {each.arg for each in arguments if each.annotation and _holds_any(each.annotation)}
    size.arguments += len(arguments)
    size.untyped += len(untyped)
    for node in ast.walk(function):
        size.lookups += (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name)
            and node.value.id in untyped
            and isinstance(node.slice, ast.Constant)
            and isinstance(node.slice.value, str)
        )


def _holds_any(annotation: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "Any" for node in ast.walk(annotation))


def main() -> None:
    """Measure the folder of the command line, or src."""
    size = measure(Path(sys.argv[1] if len(sys.argv) > 1 else "src"))
    print(f"code lines          {size.lines:6,}")
    print(f"arguments           {size.arguments:6,}, of which untyped {size.untyped:,}")
    print(f"untyped lookups     {size.lookups:6,}")


if __name__ == "__main__":
    main()
