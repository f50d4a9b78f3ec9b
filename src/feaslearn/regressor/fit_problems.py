"""Problems of a fit, from all the parts it has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from feaslearn.exceptions import DataError, FeaslearnError, Problems, SetError, UnsupportedError


class FitProblems(Problems):
    """Problems of a fit, some of which come as errors of other parts."""

    def __init__(self) -> None:
        super().__init__()
        self._others: list[type[FeaslearnError]] = []

    @contextmanager
    def taking(self) -> Iterator[None]:
        """Take an error as one problem among others."""
        try:
            yield
        except DataError as error:
            self.add(str(error), error=type(error))
        except (SetError, UnsupportedError) as error:
            self.add(str(error), error=type(error))
            self._others.append(type(error))

    def raise_all(self) -> None:
        """Raise one `DataError`; a single problem of a set or a combination keeps its class."""
        alone = len(self) == len(self._others) == 1
        self.raise_if_any(self._others[0] if alone else DataError, "RegionRegressor")
