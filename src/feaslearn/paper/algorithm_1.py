r"""Algorithm 1: gradient descent on the exact loss.

.. math:: \theta \leftarrow \theta - \eta \nabla_\theta \sum_i w_i \ell_\theta(x_i, s_i)

The paper differentiates (10) through optimal multipliers, equation (11); here the gradient is the
closed form of `feaslearn.paper.losses`, which multipliers miss by 3 to 22 % for a Euclidean ball.
The paper solves for b with z in each step; here b moves with A, so that samples separate. For a
polyhedral Z predictability is not smooth, and the method stalls in poor local minima, as the paper
says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array
from feaslearn.paper.descent import Iterate, NoStep, Start, backtrack, search
from feaslearn.paper.problem import Clock, Found, Problem
from feaslearn.tolerances import DESCENT_ROUNDING


def algorithm1(
    problem: Problem,
    *,
    start: Start | ArrayLike | None = None,
    n_starts: int = 5,
    max_iter: int = 500,
    tol: float = 1e-9,
    max_seconds: float | None = None,
    seed: int | np.random.Generator = 0,
) -> Found:
    """Descend on the exact loss, with steps by Armijo's rule.

    Parameters
    ----------
    problem : Problem
        The training problem; every loss, norm and set is served.
    start : callable or array-like, default=None
        Where searches begin: `linear_start` by default, `random_start`, or parameters.
    n_starts : int, default=5
        How many starts.
    max_iter : int, default=500
        Steps from each start.
    tol : float, default=1e-9
        A start ends when the relative decrease of the objective falls below this.
    max_seconds : float, default=None
        Limit on the wall time; the best iterate so far is returned, as after Ctrl-C.
    seed : int or Generator, default=0
        Source of the starts.

    Returns
    -------
    Found
        The best iterate of all starts.

    Examples
    --------
    >>> import feaslearn.paper as paper
    >>> from feaslearn import Simplex
    >>> s = np.linspace(0.01, 0.99, 50)[:, None]
    >>> data = paper.Data(s, np.hstack([s < 0.5, s >= 0.5]), np.hstack([s, 1 - s]), [0])
    >>> paper.algorithm1(paper.Problem.of(paper.Affine(Simplex(2)), data)).objective < 0.1
    True
    """
    with Clock(max_seconds) as clock:
        return search(
            problem,
            lambda standard: _Descent(standard, tol, clock),
            start=start,
            n_starts=n_starts,
            max_iter=max_iter,
            seed=seed,
            clock=clock,
        )


@dataclass(frozen=True)
class _Descent:
    problem: Problem
    tol: float
    clock: Clock

    def begin(self, theta: Array) -> Iterate:
        """Evaluate the loss at the start."""
        value, gradient = self.problem.value_and_gradient(theta)
        return Iterate(theta, value, gradient, loss=value, first=value)

    def step(self, iterate: Iterate) -> Iterate:
        """Take one backtracked gradient step."""
        if not iterate.gradient.any() or iterate.value <= DESCENT_ROUNDING * iterate.first:
            return replace(iterate, finished="converged")
        taken = backtrack(self.problem, iterate, self.problem.value_and_gradient, self.clock)
        if isinstance(taken, NoStep):
            return replace(iterate, finished="converged" if taken.stationary else "stalled")
        done = iterate.value - taken.value <= self.tol * iterate.value
        return replace(
            iterate,
            theta=taken.theta,
            value=taken.value,
            gradient=taken.found,
            loss=taken.value,
            step=2.0 * taken.size,
            finished="converged" if done else None,
        )
