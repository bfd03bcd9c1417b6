"""The one exception that carries a sentence for the user up to the window or the command line."""


class UserError(Exception):
    """Something the user can put right: `str(error)` says what happened, what it means, what to do."""
