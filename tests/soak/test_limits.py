"""Trainers whose deadline is too short for their problem stop searching when it is over.

A deadline is kept if the search looks at its clock at most a tenth of the limit and two seconds
after it; measuring the result comes on top. Kernels are compiled on a small problem first: the time
of that is not counted.
"""

from __future__ import annotations

import contextlib
import time

import pytest

from feaslearn.exceptions import FeaslearnError
from feaslearn.runs import Run
from soak.cases import ALL

SECONDS = 5.0


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", ALL)
def test_deadlines_are_kept(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, data = ALL[case](False, max_seconds=20.0)
    model.fit(*data)
    model, data = ALL[case](True, max_seconds=SECONDS)
    stopped: list[float] = []
    began, look = time.monotonic(), Run.late

    def looked(run: Run) -> bool:
        if late := look(run):
            stopped.append(time.monotonic() - began)
        return late

    monkeypatch.setattr(Run, "late", looked)
    with contextlib.suppress(FeaslearnError):  # no model yet at the deadline
        model.fit(*data)
    stopped.append(time.monotonic() - began)
    assert stopped[0] <= 1.1 * SECONDS + 2.0
