"""Which functions of the signal scales and offset are made of."""

from __future__ import annotations

from typing import NamedTuple


class Split(NamedTuple):
    """Which functions scales and offset are made of.

    Scales take the first ``n_psi`` of the features, which an offset takes too; or, if ``knotted``,
    functions of their own, which stand before the features.
    """

    n_psi: int
    n_features: int
    knotted: bool
    offset: bool

    @property
    def n_functions(self) -> int:
        """Number B of functions."""
        features = self.n_features if self.offset else 0
        return self.n_psi + features if self.knotted else max(self.n_psi, features)

    @property
    def psi(self) -> slice:
        """The functions of the scales."""
        return slice(0, self.n_psi)

    @property
    def phi(self) -> slice:
        """The functions of the offset."""
        if not self.offset:
            return slice(0, 0)
        return slice(self.n_psi if self.knotted else 0, self.n_functions)

    @property
    def constant(self) -> slice:
        """Functions that add up to one: the constant, or those with the knots of one feature."""
        if self.knotted and not self.offset:
            return slice(0, self.n_psi // (self.n_features - 1))
        start = self.n_psi if self.knotted else 0
        return slice(start, start + 1)
