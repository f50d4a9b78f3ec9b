"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import feaslearn as fl


def write_bytes(path: Path, contents: bytes) -> None:
    """Write a file under a temporary name beside its own, then rename it."""
    target = path.resolve()  # a link stays a link
    temporary = target.with_name(f".{target.name[:50]}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(contents)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except OSError as error:
        kept = "; the file that is there stays as it was" if target.exists() else ""
        raise fl.exceptions.FileError(f"{path} cannot be written: {error}{kept}") from error
    finally:
        temporary.unlink(missing_ok=True)
