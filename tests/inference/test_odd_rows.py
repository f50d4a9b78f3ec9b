"""The check of a table names rows in which decisions do not add up."""

from __future__ import annotations

import numpy as np

from common.logs import draw
from feaslearn.inference.data_checks import check_data
from feaslearn.inference.roles import Roles


def test_rows_that_do_not_add_up_are_named() -> None:
    log = draw("power5", "shed", 0.02, 2)
    n = log.decisions.shape[1]
    counts = zip("scx", (log.signals.shape[1] - n, n, n), strict=True)
    names = [[f"{what}{j}" for j in range(count)] for what, count in counts]
    roles = Roles(log.signals[:, n:], log.signals[:, :n], log.decisions, *names)
    found = next(each for each in check_data(roles) if each.check == "balance")
    assert found.level == "note"
    assert f"in {int((~log.odd).sum())} of {len(log.odd)} rows" in found.text
    assert f"not in rows {np.flatnonzero(log.odd)[0]}; " in found.text
