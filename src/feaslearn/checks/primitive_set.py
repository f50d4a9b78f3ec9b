"""Whether a primitive set is right: every answer is compared with what its conic form says."""

from __future__ import annotations

import numpy as np

from feaslearn.checks.cases import Cases
from feaslearn.checks.description import DESCRIPTION, conic_form_problems
from feaslearn.checks.findings import first_of
from feaslearn.checks.geometry import GEOMETRY
from feaslearn.exceptions import CheckError, Problems
from feaslearn.sets.primitive_set import PrimitiveSet


def check_primitive_set(
    primitive: PrimitiveSet, *, random_state: int = 0, n_cases: int = 50
) -> None:
    r"""Check that a primitive set keeps every promise that the library relies on.

    Every answer of the set is compared with its own conic form
    :math:`Z = \{z : Hz - h \in K\}`, through a conic solver: minimisers, their faces, membership,
    projections, the vertices where there is a list, and what the compiled kernels read.

    Parameters
    ----------
    primitive : PrimitiveSet
        The set; an object with the same methods does as well.
    random_state : int, default=0
        Seed of the random costs and points.
    n_cases : int, default=50
        How many random costs and points.

    Raises
    ------
    CheckError
        If a property is broken. The error lists all that are, each with a case that shows it.

    See Also
    --------
    check_loss : The same for a loss.
    check_trainer : The same for a trainer.

    Examples
    --------
    >>> from feaslearn import Simplex
    >>> from feaslearn.checks import check_primitive_set
    >>> check_primitive_set(Simplex(3))

    A set that forgets to return a minimiser:

    >>> class Lazy(Simplex):
    ...     def argmin(self, Q, ties="first"):
    ...         return Simplex(self.p).argmin(0 * Q, ties)
    >>> check_primitive_set(Lazy(2))
    Traceback (most recent call last):
    ...
    feaslearn.exceptions.CheckError: Lazy(p=2):
      - argmin is optimal: ...
    """
    problems = Problems()
    for message in first_of("conic_form is a conic form", conic_form_problems(primitive)):
        problems.add(message)
    # Nothing can be compared with a form that is none.
    problems.raise_if_any(CheckError, repr(primitive))
    rng = np.random.default_rng(random_state)
    cases = Cases(primitive, primitive.conic_form(), rng, n_cases)
    for name, find in (DESCRIPTION | GEOMETRY).items():
        for message in first_of(name, find(cases)):
            problems.add(message)
    problems.raise_if_any(CheckError, repr(primitive))
