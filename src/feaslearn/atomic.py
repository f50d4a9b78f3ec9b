"""Files that are either written whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from feaslearn.exceptions import FileError

#: Bytes that are read at once.
CHUNK = 2**22
#: What the names of temporary files end with.
TEMPORARY = ".tmp"
#: Names of open descriptors.
DESCRIPTORS = re.compile(r"/dev/(std(in|out|err)|fd/.+)|/proc/.+")


def read_bytes(
    path: str | os.PathLike[str],
    max_bytes: int,
    option: str = "max_bytes (--max-bytes on the command line)",
) -> bytes:
    """Return what a file holds; refuse one that is larger than a limit before reading it."""
    name = os.fspath(path)
    try:
        with Path(path).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            # A pipe has no size, so what is read counts too.
            chunks = []
            while size <= max_bytes and (chunk := file.read(CHUNK)):
                chunks.append(chunk)
                size = max(size, sum(map(len, chunks)))
    except OSError as error:
        raise FileError(f"{name}: {_reason(error)}") from error
    except ValueError as error:
        raise FileError(f"{name!r} is not the name of a file: {error}") from error
    if size > max_bytes:
        raise FileError(
            f"{name} holds {size} bytes or more, the limit is {max_bytes}; raise {option} if that "
            "is what you expect"
        )
    return b"".join(chunks)


def write_bytes(path: str | os.PathLike[str], contents: bytes) -> None:
    """Write a file under a temporary name beside its own, then rename it."""
    with _explained(path):
        _replace(_target(path), contents)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse, before any work, a path that `write_bytes` would refuse; change nothing."""
    with _explained(path):
        handle, probe = tempfile.mkstemp(prefix=".", suffix=TEMPORARY, dir=_target(path).parent)
        os.close(handle)
        Path(probe).unlink()


@contextmanager
def _explained(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what the system says into an error of ours that names the file."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        kept = "; the file that is there stays as it was" if os.path.lexists(path) else ""
        raise FileError(f"{os.fspath(path)}: cannot be written: {_reason(error)}{kept}") from error
    except ValueError as error:
        raise FileError(f"{os.fspath(path)!r} is not the name of a file: {error}") from error


def _target(path: str | os.PathLike[str]) -> Path:
    """Return what is to be replaced: a link stays a link, and what it points to is replaced."""
    # Resolved, a descriptor is the file behind it, which would be replaced.
    if DESCRIPTORS.fullmatch(str(Path(path).absolute())):
        raise FileError(
            f"{os.fspath(path)}: cannot be written, it stands for what is open already, such as "
            "standard output, and not for a file; give the name of a file"
        )
    target = Path(os.path.realpath(path))
    if target.is_symlink():  # links that lead in a circle
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if target.exists() and not target.is_file():
        raise FileError(f"{os.fspath(path)}: cannot be written, it is a directory or a device")
    return target


def _replace(target: Path, contents: bytes) -> None:
    handle, temporary = tempfile.mkstemp(
        prefix=_prefix(target), suffix=TEMPORARY, dir=target.parent
    )
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(contents)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(_mode(target))
        Path(temporary).replace(target)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise
    _sync_folder(target.parent)


def _prefix(target: Path) -> str:
    """Return what the names of temporary files begin with: names have no more than 255 bytes."""
    return f".{target.name[:50]}."


def _mode(target: Path) -> int:
    """Return the rights of the file that is replaced, or those that a new file would have."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    """Make the new name last; where folders cannot be opened, the system sees to it."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
