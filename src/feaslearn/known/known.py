"""What the user knows about the region before anything is learned."""

from __future__ import annotations

from typing import Any, Literal

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

#: What can be done with observed decisions that break known constraints.
CONTRADICTIONS = ("raise", "project", "drop", "keep")


class Known(BaseEstimator):
    r"""Linear constraints on the decisions that need not be learned.

    .. math:: G x \ge g(s), \qquad l(s) \le x \le u(s), \qquad E x = e(s)

    Predictions minimise the cost over the learned region intersected with these constraints. A
    right-hand side is a number, a list with one entry for each row, an `AffineCost` (an affine map
    of the signals), or a function of all signals, plain or as a `FunctionCost`. In lists, names are
    columns of the signals, numbers with a point are constants, and None (or an infinite number) is
    a bound that is not there. Whole numbers are columns, ``[4, 5, None]``, unless a number with a
    point stands beside them: ``[4, 4.5, None]`` holds constants.

    Parameters
    ----------
    G : array-like of shape (m, n), default=None
        Rows of the inequalities.
    g : right-hand side, default=None
        What ``G x`` is at least.
    bounds : pair of right-hand sides, default=None
        Lower and upper bounds of the decisions; either may be None.
    balance : pair (E, e), default=None
        Equalities: rows ``E`` of shape (q, n), or one row, and their right-hand side.
    contradictions : {"raise", "project", "drop", "keep"}, default="raise"
        What to do with observed decisions that break the constraints: refuse them by name, move
        them to the nearest decision that does not, leave these samples out, or keep them as they
        are, because decisions are noisy.
    tolerance : float, default=1e-6
        Violations below this share of the size of a row are rounding.

    References
    ----------
    Ren, Mohajerin Esfahani and Georghiou, "Inverse Optimization via Learning Feasible Regions",
    ICML 2025, Problem 2, whose plants have known limits.

    Examples
    --------
    Three plants of capacity 3.5 that together serve the demand of five regions:

    >>> import numpy as np
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_power5(200, random_state=0)
    >>> demand = fl.AffineCost([0.0], [[0, 0, 0, 1, 1, 1, 1, 1]])
    >>> known = fl.Known(bounds=(0.0, 3.5), balance=(np.ones(3), demand))
    >>> model = fl.RegionRegressor(fl.Facets(), cost=data.cost, known=known, random_state=0)
    >>> model = model.fit(data.signals[:100], data.decisions[:100])
    >>> x = model.predict(data.signals[100:])
    >>> bool(np.abs(x.sum(axis=1) - data.signals[100:, 3:].sum(axis=1)).max() < 1e-9)
    True
    """

    def __init__(
        self,
        G: ArrayLike | None = None,
        g: Any = None,
        bounds: tuple[Any, Any] | None = None,
        balance: tuple[ArrayLike, Any] | None = None,
        contradictions: Literal["raise", "project", "drop", "keep"] = "raise",
        tolerance: float = 1e-6,
    ) -> None:
        self.G = G
        self.g = g
        self.bounds = bounds
        self.balance = balance
        self.contradictions = contradictions
        self.tolerance = tolerance
