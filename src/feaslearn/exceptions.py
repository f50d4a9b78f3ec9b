"""The errors and warnings of feaslearn, under one base class, and what collects them."""

from __future__ import annotations

from typing import TypeVar, cast

from sklearn.exceptions import NotFittedError as _SklearnNotFittedError

from feaslearn.printable import printable

T = TypeVar("T")

__all__ = [
    "DataError",
    "DataTypeError",
    "EmptySetError",
    "FeaslearnError",
    "FeaslearnWarning",
    "FileError",
    "InfeasibleProblemError",
    "MemoryLimitError",
    "MissingExtraError",
    "ModelFileError",
    "NotFittedError",
    "RoleWarning",
    "SetError",
    "SolverError",
    "TimeLimitError",
    "TooManyVerticesError",
    "UnboundedProblemError",
    "UnboundedSetError",
    "UnseenLimitWarning",
    "UnsupportedError",
]


class FeaslearnError(Exception):
    """Base class of every error that feaslearn raises on purpose.

    What does not print, in names that a message quotes, is shown by its code.
    """

    def __str__(self) -> str:
        return printable(super().__str__(), lines=True)


class DataError(FeaslearnError, ValueError):
    """The data, or what was said about them, cannot be used."""


class DataTypeError(DataError, TypeError):
    """The data hold objects of a type that cannot stand for a number."""


class SetError(FeaslearnError, ValueError):
    """A primitive set or a region is not what it must be."""


class EmptySetError(SetError):
    """The set has no point."""


class UnboundedSetError(SetError):
    """The set is not bounded, so a linear cost may have no minimum on it."""


class TooManyVerticesError(SetError):
    """The set has more vertices than the limit that was asked for."""


class UnsupportedError(FeaslearnError, TypeError):
    """A combination that nothing here serves; the message names what does."""


class SolverError(FeaslearnError, RuntimeError):
    """A solver ended without the answer that was asked of it."""


class InfeasibleProblemError(SolverError):
    """The problem has no feasible point."""


class UnboundedProblemError(SolverError):
    """The objective of the problem has no finite optimum."""


class FileError(FeaslearnError, OSError):
    """A file cannot be read or written."""


class ModelFileError(FeaslearnError, ValueError):
    """A file is not a model file, or not one that this version can trust."""


class MemoryLimitError(FeaslearnError, MemoryError):
    """The parts of a file are larger than the memory that was allowed; none of them was read."""


class TimeLimitError(FeaslearnError, TimeoutError):
    """The time was up before there was any model."""


class NotFittedError(FeaslearnError, _SklearnNotFittedError):
    """The model is used before ``fit``."""


class MissingExtraError(FeaslearnError, ImportError):
    """An optional package is needed and is not installed.

    Parameters
    ----------
    package : str
        The package that could not be imported.
    extra : str
        The extra of feaslearn that installs it.

    Examples
    --------
    >>> from feaslearn.exceptions import MissingExtraError
    >>> print(MissingExtraError("matplotlib", "plot"))
    needs matplotlib: pip install "feaslearn[plot]"
    """

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f'needs {package}: pip install "feaslearn[{extra}]"')
        self.package = package
        self.extra = extra

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str]]:
        """Rebuild from the two arguments: the default would pass the message alone."""
        return type(self), (self.package, self.extra)


class FeaslearnWarning(UserWarning):
    """Something worth knowing that does not stop the work."""

    def __str__(self) -> str:
        return printable(super().__str__(), lines=True)


class UnseenLimitWarning(FeaslearnWarning):
    """Decisions rest on limits that the data of the fit never showed."""


class RoleWarning(FeaslearnWarning):
    """Columns seem to have other roles than they were given, or costs another sense."""


class Problems:
    """Collect everything that is wrong, then raise one error that says all of it.

    Examples
    --------
    >>> from feaslearn.exceptions import DataError, Problems
    >>> problems = Problems()
    >>> problems.add("signals has no rows")
    >>> problems.add("cost names 2 columns for 3 decisions")
    >>> problems.raise_if_any(DataError, "Decisions")
    Traceback (most recent call last):
    ...
    feaslearn.exceptions.DataError: Decisions:
      - signals has no rows
      - cost names 2 columns for 3 decisions
    """

    def __init__(self) -> None:
        self._messages: list[str] = []
        self._errors: list[type[FeaslearnError]] = []

    @property
    def messages(self) -> tuple[str, ...]:
        """What has been collected so far, in order."""
        return tuple(self._messages)

    def __len__(self) -> int:
        return len(self._messages)

    def add(self, message: str, *, error: type[FeaslearnError] | None = None) -> None:
        """Remember one problem.

        Parameters
        ----------
        message : str
            What is wrong, where, and what to do about it.
        error : type, optional
            A narrower class for this problem; it is raised if it is a kind of the class that
            `raise_if_any` is asked for.
        """
        self._messages.append(message)
        if error is not None:
            self._errors.append(error)

    def raise_if_any(self, error: type[FeaslearnError], heading: str) -> None:
        """Raise ``error`` with every message collected; do nothing if there is none.

        Parameters
        ----------
        error : type
            The class to raise.
        heading : str
            What was being checked.
        """
        if not self._messages:
            return
        narrowest = next((kind for kind in self._errors if issubclass(kind, error)), error)
        if len(self._messages) == 1:
            raise narrowest(f"{heading}: {self._messages[0]}")
        lines = "".join(f"\n  - {message}" for message in self._messages)
        raise narrowest(f"{heading}:{lines}")


def checked(
    value: T | None, problems: Problems, owner: str, error: type[FeaslearnError] = DataError
) -> T:
    """Return a value that is None only where a problem was added; raise all problems."""
    problems.raise_if_any(error, owner)
    return cast("T", value)
