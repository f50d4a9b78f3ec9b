"""Compilation of kernels, with a cache on disk.

Kernels live in files ``kernels.py`` and ``*_kernels.py`` beside what they serve, nowhere else.
Numba alone decides by the time stamp of the file a function stands in, so a kernel that calls
another file's kernel would be served stale code when only that other file changed. Here the stamp
is a hash of the file and of the kernel files that it imports, directly or not, and of the numbers
of ``tolerances.py`` that these name. Where the cache cannot be written, kernels compile once per
process.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator

from feaslearn import tolerances

PACKAGE = Path(__file__).resolve().parents[1]
logger = logging.getLogger("feaslearn")

Function = TypeVar("Function", bound=Callable[..., Any])


#: A module of the package in an import, and the name of a constant.
IMPORTED, CONSTANT = (
    re.compile(r"^from feaslearn\.([\w.]+) import", re.M),
    re.compile(r"\b[A-Z]\w+"),
)


@cache
def sources_of(path: Path) -> tuple[Path, ...]:
    """Return the files that the kernels of a file are compiled from, the file itself among them."""
    found, queue = {path}, [path]
    while queue:
        names = IMPORTED.findall(queue.pop().read_text(encoding="utf-8"))
        files = {PACKAGE / f"{name.replace('.', '/')}.py" for name in names}
        new = {file for file in files if file.name.endswith("kernels.py")} - found
        found |= new
        queue += new
    return tuple(sorted(found))


@cache
def stamp_of(path: Path) -> str:
    """Return a hash of all that the machine code of a file of kernels depends on."""
    digest = hashlib.sha256()
    names: set[str] = set()
    for file in (Path(__file__), *sources_of(path)):
        text = file.read_text(encoding="utf-8")
        names.update(CONSTANT.findall(text))
        digest.update(file.name.encode())
        digest.update(text.encode())
    numbers = {name: vars(tolerances)[name] for name in names & vars(tolerances).keys()}
    digest.update(repr(sorted(numbers.items())).encode())
    return digest.hexdigest()


class _FolderLocator(_CacheLocator):
    """Keeps kernels in ``NUMBA_CACHE_DIR`` or ``solvers/__pycache__``, stamped by their sources."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._line = function.__code__.co_firstlineno
        self._file = Path(function.__code__.co_filename).resolve()

    def get_cache_path(self) -> str:
        chosen = numba.config.CACHE_DIR  # type: ignore[attr-defined]
        return str(Path(chosen) / "feaslearn" if chosen else PACKAGE / "solvers" / "__pycache__")

    def get_source_stamp(self) -> str:
        return stamp_of(self._file)

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> _FolderLocator | None:
        locator = cls(py_func)
        try:
            locator.ensure_cache_path()  # type: ignore[no-untyped-call]
        except OSError:
            return None
        return locator


class _FolderCacheImpl(CompileResultCacheImpl):
    _locator_classes = [_FolderLocator]  # type: ignore[list-item] # noqa: RUF012


class _FolderCache(FunctionCache):
    """A cache that is set up when the kernel is first called: an import has many kernels."""

    _impl_class = _FolderCacheImpl

    def __init__(self, py_func: Callable[..., Any], announced: str) -> None:
        self._py_func, self._name = py_func, repr(py_func)
        #: What is said when the code is not on disk; empty for kernels that only others call.
        self.announced = announced
        self._ready = False

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return compiled code or None; an index that names types of an older version is emptied.

        Numba unpickles an index before it compares the stamps.
        """
        try:
            self._set_up()
            found = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except (AttributeError, ImportError, pickle.UnpicklingError):
            self.flush()  # type: ignore[no-untyped-call]
            found = None
        if found is None and self.announced:
            announce(self.announced)
        return found

    def _set_up(self) -> None:
        """Find the folder and the stamp; without a folder to write to, nothing is kept."""
        if self._ready:
            return
        try:
            super().__init__(self._py_func)  # type: ignore[no-untyped-call]
        except RuntimeError:
            self.disable()  # type: ignore[no-untyped-call]
        self._ready = True


def announce(name: str) -> None:
    """Say what is being compiled: in the log, and on a terminal that is looked at."""
    text = f"compiling {name}, once for each installation"
    logger.info(text)
    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write(f"feaslearn: {text}\n")


def kernel(function: Function) -> Function:
    """Compile ``function`` to machine code that releases the GIL, cached on disk."""
    return _compiled(function)


def inner_kernel(function: Function) -> Function:
    """Compile a function that only kernels call: what Python would need to call it is left out.

    That is a good part of the time to compile, most of all for functions of many arrays.
    """
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def bare_kernel(function: Function) -> Function:
    """Compile an inner kernel that makes no array: references to those it has are not counted.

    Its callers hold them. A tenth of the time to compile a kernel that is made of such ones.
    """
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)


def inlined(function: Function) -> Function:
    """Write a function into the kernels that call it, so that it is never compiled alone.

    For the steps of one or two kernels: each is compiled once with its kernel, and not before.
    """
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, inline="always")


def summing_kernel(function: Function) -> Function:
    """Compile an inner kernel whose sums may be added up in another order."""
    order = {"reassoc", "contract"}
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath=order)


def _compiled(function: Function, **options: bool | str | set[str]) -> Function:
    njit: Any = numba.njit
    compiled = njit(nogil=True, error_model="numpy", **options)(function)
    if hasattr(compiled, "_cache"):
        name = f"{function.__module__.removeprefix('feaslearn.')}.{function.__name__}"
        called = "no_cpython_wrapper" not in options
        compiled._cache = _FolderCache(compiled.py_func, name if called else "")  # noqa: SLF001
    return cast(Function, compiled)
