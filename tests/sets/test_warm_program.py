"""What is asked of HiGHS: options that it knows."""

from __future__ import annotations

import highspy

from feaslearn.sets.warm_program import DUAL, OPTIONS, PRIMAL


def test_every_option_is_one_that_highs_takes() -> None:
    solver = highspy.Highs()
    for name, value in (*OPTIONS.items(), ("simplex_strategy", PRIMAL)):
        assert solver.setOptionValue(name, value) == highspy.HighsStatus.kOk, name
    names = highspy.simplex_constants.SimplexStrategy
    assert (int(names.kSimplexStrategyDual), int(names.kSimplexStrategyPrimal)) == (DUAL, PRIMAL)
