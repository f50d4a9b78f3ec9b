"""Files that are read up to a limit, and written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from feaslearn.exceptions import FileError

#: Bytes that are read at once.
CHUNK = 2**22


def read_bytes(path: str | os.PathLike[str], max_bytes: int) -> bytes:
    """Return what a file holds; refuse one that is larger than a limit before reading it."""
    contents = bytearray()
    with explained(path), Path(path).open("rb") as file:
        # A pipe has no size, so what is read counts too.
        size = os.fstat(file.fileno()).st_size
        while size <= max_bytes and (chunk := file.read(CHUNK)):
            contents += chunk
            size = max(size, len(contents))
    if size > max_bytes:
        raise FileError(
            f"{os.fspath(path)} holds {size} bytes or more, the limit is {max_bytes}; raise "
            "max_bytes (--max-bytes on the command line) if that is what you expect"
        )
    return bytes(contents)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse, before any work, a path that `write_bytes` would refuse; change nothing."""
    with explained(path, "cannot be written: "):
        probe = _temporary(_target(path))
        probe.open("xb").close()
        probe.unlink()


def write_bytes(path: str | os.PathLike[str], contents: bytes) -> None:
    """Write a file under a temporary name beside its own, then rename it."""
    with explained(path, "cannot be written: "):
        target = _target(path)
        temporary = _temporary(target)
        try:
            with temporary.open("xb") as file:
                file.write(contents)
                file.flush()
                os.fsync(file.fileno())
            if target.exists():
                temporary.chmod(target.stat().st_mode & 0o777)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


def _target(path: str | os.PathLike[str]) -> Path:
    """Return the file that is replaced; a link stays a link."""
    target = Path(os.path.realpath(path))
    # Resolved, a descriptor is the file behind it, which would be replaced.
    is_open = str(Path(path).absolute()).startswith(("/dev/", "/proc/"))
    if is_open or target.is_symlink() or (target.exists() and not target.is_file()):
        raise FileError(f"{os.fspath(path)}: cannot be written, it is not a regular file")
    return target


def _temporary(target: Path) -> Path:
    """Return a name beside another one: names have no more than 255 bytes."""
    return target.with_name(f".{target.name[:50]}.{secrets.token_hex(4)}.tmp")


@contextmanager
def explained(path: str | os.PathLike[str], what: str = "") -> Iterator[None]:
    """Turn an error of the system into one of ours that names the file."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        kept = "; the file that is there stays as it was"
        kept = kept if what and os.path.lexists(path) else ""
        raise FileError(f"{os.fspath(path)}: {what}{error.strerror or error}{kept}") from error
    except ValueError as error:
        raise FileError(f"{os.fspath(path)!r} is not the name of a file: {error}") from error
