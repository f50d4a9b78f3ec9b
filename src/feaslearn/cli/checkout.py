"""Where the repository is, for commands that need more than the installed package."""

from __future__ import annotations

from pathlib import Path


class ScriptsNotFoundError(Exception):
    """The scripts are not there to run: not inside a checkout."""


def checkout(folder: str) -> Path:
    """Return the repository that the working folder lies in.

    Parameters
    ----------
    folder : str
        A folder at its top that is needed.

    Returns
    -------
    Path
        The top of the repository.
    """
    here = Path.cwd()
    for root in (here, *here.parents):
        if (root / "src" / "feaslearn").is_dir() and (root / folder).is_dir():
            return root
    raise ScriptsNotFoundError(
        f"{folder}/ is part of the repository, not of the installed package; "
        "run this inside a checkout"
    )
