"""Run the commands that a page shows and put their real output below them: python docs/refresh.py docs/provenance.md

A block that starts with ```console holds lines "$ command"; a number after the word limits the lines of output that are
kept. Long lines are cut. The text between <!-- $ command --> and <!-- end --> is the command's whole output, as part of
the page.
"""

import re
import subprocess
import sys
from pathlib import Path

BLOCK = re.compile(r"^```console(?P<limit> \d+)?\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
PART = re.compile(r"^<!-- \$ (?P<command>[^\n]+) -->\n.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)
WIDTH = 160


def refreshed(page: str) -> str:
    """The page with the output of every command as it is now."""
    return PART.sub(_part, BLOCK.sub(_block, page))


def _block(match: re.Match[str]) -> str:
    limit = int(match["limit"] or 1000)
    commands = [line[2:] for line in match["body"].splitlines() if line.startswith("$ ")]
    session = "".join(f"$ {command}\n{_output(command, limit)}" for command in commands)
    return f"```console{match['limit'] or ''}\n{session}```"


def _output(command: str, limit: int) -> str:
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    lines = (done.stdout or done.stderr).splitlines()
    kept = [line if len(line) <= WIDTH else f"{line[:WIDTH]} ..." for line in lines[:limit]]
    more = [f"... ({len(lines) - limit} more lines)"] if len(lines) > limit else []
    return "".join(f"{line}\n" for line in [*kept, *more])


def _part(match: re.Match[str]) -> str:
    command = match["command"]
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{command}: {done.stderr.strip()}")
    return f"<!-- $ {command} -->\n{done.stdout.strip()}\n<!-- end -->"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(refreshed(path.read_text(encoding="utf-8")), encoding="utf-8")
