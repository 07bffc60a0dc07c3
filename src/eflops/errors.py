"""Errors that a user can fix."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Frames of this package, of libraries and of the import system say nothing to a user.
NOT_THEIRS = (str(Path(__file__).parent), "site-packages", "<frozen")


class UserError(Exception):
    """A mistake that the user can fix: one sentence, printed without a traceback, exit code 2."""


def failed(what: str, error: Exception) -> UserError:
    """The sentence for an exception of the user's code, with the line of their file that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not any(part in frame.filename for part in NOT_THEIRS)]
    where = f"{Path(theirs[-1].filename).name}, line {theirs[-1].lineno}, " if theirs else ""
    reason = " ".join(str(error).split())[:300]
    return UserError(f"{what} fails ({where}{type(error).__name__}: {reason}).")


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Turn an exception of the user's code into a sentence that `what` fails, with the reason."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        raise failed(what, error) from error
