"""The one family of errors a user can cause or meet.

Every message is one sentence for a person: what was wrong, where (file, line, entry, input) and what to
do. A front door prints it and exits with `exit_code`; a traceback is for our own faults only.
"""

from __future__ import annotations


class BccontamError(Exception):
    """Something a user can mend. `exit_code` follows the contract of the action (2: a bad input)."""

    exit_code = 2


class SettingsError(BccontamError):
    """An input or a flag that cannot be used."""


class DatasetError(BccontamError):
    """A benchmark file that cannot be read as a whole."""


class PatchError(BccontamError):
    """A gold patch that cannot be read; an error of its entry, never a wrong gold file."""


class PromptError(BccontamError):
    """A prompt template that cannot be used, or that gives an answer away."""


class StoreError(BccontamError):
    """Stored results that cannot be read, written or compared."""


class AskError(BccontamError):
    """The model could not be asked at all."""

    exit_code = 3
