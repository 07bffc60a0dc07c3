"""The one error that a user's mistake raises."""


class UserError(Exception):
    """A mistake the user can mend: one sentence, printed without a traceback, exit code 2."""
