"""Tolerances, each once with its reason, and the sizes that they are relative to.

A tolerance is a share of the size of the numbers it is compared with, unless its comment says
otherwise. Kernels import none: what is compiled stands in the kernel's own file.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from feaslearn.arrays import Array

# Rounding: what arithmetic leaves where the exact result is zero or equal.

#: Least divisor, so that a quotient of zeros is zero (absolute).
TINY = 1e-300
#: The square of `SAME_TOL`, for sums of squares.
SQUARE_ROUNDING = 1e-18
#: A loss below this share of that at the start of a descent is rounding.
DESCENT_ROUNDING = 1e-15
#: Rounding changes a sum by less than this share of the sum of its terms' sizes.
SUM_ROUNDING = 1e-14
#: Projections and active sets hold their rows to this, without a solver.
EXACT_TOL = 1e-13
#: Numbers that pass through several sums agree to this; a smaller spread is none.
ROUNDING = 1e-12
#: Rows that the minimiser of a kernel violates by less hold.
ROW_ROUNDING = 1e-11

# Rank: directions that data or rows do not determine.

#: Cutoff of least squares: the square root of it is as far as rounding reaches.
LSTSQ_TOL = 1e-12
#: Singular values and eigenvalues below this share of the largest are zero.
RANK_TOL = 1e-10
#: Directions (of norm one) closer to dependent than this are dependent.
DEPENDENT_TOL = 1e-9
#: The same for rows that a solver made equalities.
SOLVED_DEPENDENT_TOL = 1e-5
#: Ridge that draws undetermined parameters to zero; it moves no bound by more than its share.
LEAST_RIDGE = 1e-10
#: Curvature along undetermined directions of least squares: the less, the more rounding counts; the
#: more, the further coefficients that are held positive move the others.
UNDETERMINED_CURVATURE = 1e-8
#: Ridge beside a penalty on sparsity, which alone leaves directions undetermined.
SPARSITY_RIDGE = 1e-6

# Equality: what counts as the same, or as zero, before any solver is asked.

#: Two costs tie when they differ by less than this share of the largest.
TIE_TOL = 1e-9
#: Decisions, points, losses and levels that differ by less are the same.
SAME_TOL = 1e-9
#: A point this far outside of a set still belongs to it.
INSIDE_TOL = 1e-9
#: A loss below this share of the decisions' spread (or its square) is zero.
ZERO_LOSS = 1e-9
#: A candidate that leaves less of the variance of held-out rows needs no other to compare with.
NOTHING_LEFT = 1e-6
#: Shadow prices and shares of a mixture below this are zero.
ZERO_PRICE = 1e-9
#: Negative slack of capacities that are summed up, in their units (absolute).
CAPACITY_TOL = 1e-9

# Solvers: what they are asked for, and what is accepted of them.

#: Interior-point methods, where the optimum is the result.
INTERIOR_TOL = 1e-12
#: Interior-point methods within a search, and linear programs whose duals are read.
TIGHT_TOL = 1e-10
#: Feasibility of HiGHS; its default of 1e-7 blurs ties.
HIGHS_TOL = 1e-9
#: Non-negative least squares is accepted with this residual; otherwise the active set runs.
QUICK_TOL = 1e-9
#: Integers of HiGHS, and the tolerances that Clarabel falls back to.
LOOSE_TOL = 1e-8
#: Slack, distances and duals that a solver leaves of zero.
SOLVED_ZERO = 1e-8
#: Coefficients that move by less, and residuals of an exact policy.
CONVERGED_TOL = 1e-8
#: Rows and bounds that an accepted solution violates by less hold.
FEASIBILITY_TOL = 1e-7
#: Differences of two solved programs below this are zero: gains, forces, losses.
GAIN_TOL = 1e-7
#: Deliberate slack or margin, large enough for every solver to see.
NUDGE = 1e-7
#: Residuals and gaps of an accepted solution.
ACCEPT_TOL = 1e-6
#: Accuracy of decisions that a solver found, in standard deviations: closer ones are the same, and
#: facets through them are as accurate.
DECISION_TOL = 1e-6
#: The least noise of decisions, in standard deviations of a column: that of a solver.
FINEST = 3e-7
#: Multipliers below this are zero, for rows of norm one and costs of size one.
ZERO_MULTIPLIER = 1e-6
#: A face found by a solver that is not wider than this, beside its place, is one point.
POINT_TOL = 1e-6

# Display and words: what is worth mentioning.

#: Shares below this are not used, not different, or flat.
VISIBLE_TOL = 1e-6

#: Vertices that are enumerated unless a caller asks for more.
MOST_VERTICES = 10_000


def size_of(*values: ArrayLike) -> float:
    """Return the largest absolute value, but at least one."""
    return max(float(np.max(np.abs(each), initial=1.0)) for each in values)


def extent_of(*values: ArrayLike) -> float:
    """Return the largest absolute value, however small; one where all are zero."""
    return float(divisors(max(np.max(np.abs(each), initial=0.0) for each in values)))


def divisors(sizes: ArrayLike) -> Array:
    """Return sizes to divide by: one where there is nothing to divide."""
    numbers = np.asarray(sizes, dtype=float)
    return np.where(numbers == 0.0, 1.0, numbers)


def powers_of_two(sizes: ArrayLike) -> Array:
    """Return the nearest powers of two, units that change no digit; one where there is no size."""
    return np.asarray(np.exp2(np.round(np.log2(divisors(sizes)))))
