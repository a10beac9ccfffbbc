"""The error that a user can mend: the command line prints its one line and no traceback."""

from __future__ import annotations


class UserError(Exception):
    """Something asked for cannot be done as asked; the message is one clear line naming what and why."""
