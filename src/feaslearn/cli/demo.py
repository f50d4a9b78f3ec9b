"""The demo: limits learned from a log of dispatches, beside those of the hidden grid."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import feaslearn as fl
from feaslearn.cli.console import Console, print_lines
from feaslearn.cli.limits import limit_lines
from feaslearn.exceptions import FeaslearnWarning
from feaslearn.inference.regressors import USUAL, fit_and_predict
from feaslearn.inference.trust import Trust
from feaslearn.io.tables import write_table
from feaslearn.io.whole_files import check_writable
from feaslearn.metrics import pooled_r2
from feaslearn.regressor.limits import Limit, limits_at
from feaslearn.report import write_report
from feaslearn.report.report import check_extra
from feaslearn.tolerances import VISIBLE_TOL

N_TRAIN, N_TEST, WARM_UP = 500, 100, 40
#: The smallest capacity in steps of 0.1 at which all demands of seeds 0 to 9 can be served.
LINE_CAPACITY = 1.4
UNITS = {f"plant_{node}": "MW" for node in (1, 3, 5)} | {f"demand_{j}": "MW" for j in range(1, 6)}
TITLE = "A hidden grid of three plants and five lines"
#: What stands in the place of a true limit that was learned.
RECOVERED = "the same"
#: What-if questions: the plant whose price changes, its place among the prices, and by what.
QUESTIONS = (("plant_3", 1, 2.0, "cost twice as much"), ("plant_5", 2, 0.1, "cost a tenth"))


@dataclass(frozen=True)
class Story:
    """What the demo shows; of each limit the true one, "the same" where it is learned."""

    model: fl.RegionRegressor
    seconds: float
    limits: list[Limit]
    truths: list[str]
    scores: list[tuple[str, float, float]]
    what_ifs: list[WhatIf]


class WhatIf(NamedTuple):
    """One question: the mean of a decision before and after, its true mean, and trust by row."""

    text: str
    before: float
    after: float
    truth: float
    trust: Trust


def run(output: Path, console: Console) -> None:
    """Tell the story and write the report."""
    # First: what cannot be written should not cost the time of the fits.
    check_extra()
    check_writable(output)
    story, (train, test) = tell(), samples()
    write_report(story.model, test, output, train=train, title=TITLE, units=UNITS)
    facts = {
        "report": str(output),
        "models": [{"model": name, "r2": r2, "mae": mae} for name, r2, mae in story.scores],
        "limits": [
            {
                "name": limit.name,
                "text": limit.text,
                "status": limit.status,
                "true": truth == RECOVERED,
            }
            for limit, truth in zip(story.limits, story.truths, strict=True)
        ],
        "seconds": story.seconds,
    }
    console.print(facts, lambda rich: print_lines(rich, "\n".join(lines_of(story, output))))


def write_data(output: Path, samples: int, seed: int, console: Console) -> None:
    """Write data like those of the demo as a table, to try the other commands on."""
    data = fl.datasets.make_power5(n_samples=samples, random_state=seed)
    columns = np.hstack([data.signals, data.decisions]).T.tolist()
    names = [*data.names.signals, *data.names.decisions]
    write_table(output, names, columns)
    facts = {"output": str(output), "n_samples": samples, "columns": names}
    text = f"{samples} rows of {', '.join(names)}: {output}"
    console.print(facts, lambda rich: rich.print(text))


def samples() -> tuple[fl.Decisions, fl.Decisions]:
    """Return the rows to fit to, and those to measure on."""
    data = fl.datasets.make_power5(N_TRAIN + N_TEST, line_capacity=LINE_CAPACITY, random_state=0)
    return data[:N_TRAIN], data[N_TRAIN:]


def tell() -> Story:
    """Fit, measure, and ask what-if questions."""
    train, test = samples()
    X, new = (
        pd.DataFrame(np.array(each.signals), columns=list(train.names.signals))
        for each in (train, test)
    )
    y = pd.DataFrame(np.array(train.decisions), columns=list(train.names.decisions))
    model = fl.RegionRegressor(fl.Facets(), cost=train.cost, random_state=0)
    # The first fit of an installation compiles kernels, which is not what is measured.
    fl.RegionRegressor(fl.Facets(), cost=train.cost, random_state=0).fit(
        train.signals[:WARM_UP], train.decisions[:WARM_UP]
    )
    began = perf_counter()
    model.fit(X, y)
    seconds = perf_counter() - began
    limits = limits_at(model, new)
    predicted = {"learned limits": np.asarray(model.predict(new), dtype=float)}
    for name, make in USUAL.items():
        predicted[name] = fit_and_predict(make, train.signals, train.decisions, test.signals)
    scores = [
        (name, pooled_r2(test.decisions, each), float(np.abs(each - test.decisions).mean()))
        for name, each in predicted.items()
    ]
    truths = [_truth(limit, test) for limit in limits]
    what_ifs = [_ask(model, test, new, *question) for question in QUESTIONS]
    return Story(model, seconds, limits, truths, scores, what_ifs)


def _truth(limit: Limit, test: fl.Decisions) -> str:
    """Return how far the left side of a limit goes in the hidden grid, or that it is the same."""
    forward: Any = test.forward
    sign = 1.0 if limit.relation == "<=" else -1.0
    costs = np.tile(-sign * limit.coefficients, (len(test), 1))
    truth = sign * -forward.optimal_value(test.signals, costs)
    room = sign * (limit.limits - truth)
    least = VISIBLE_TOL * max(1.0, float(np.abs(truth).max()))
    reached = room[limit.binds] if limit.binds.any() else room.min(keepdims=True)
    if room.min() >= -least and reached.max() <= least:
        return RECOVERED
    return f"{(truth.max() if sign > 0 else truth.min()) + 0.0:.3g}"


def _ask(
    model: fl.RegionRegressor,
    test: fl.Decisions,
    new: pd.DataFrame,
    decision: str,
    price: int,
    factor: float,
    words: str,
) -> WhatIf:
    """Answer a question, and ask the hidden grid too."""
    costs = np.array(test.cost_matrix)
    costs[:, price] *= factor
    forward: Any = test.forward
    j = test.names.decisions.index(decision)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeaslearnWarning)
        after, trust = model.predict(new, costs=costs, return_trust=True)
    truth = forward.solve(test.signals, costs)
    before = float(np.mean(test.decisions[:, j]))
    found, true = (float(np.mean(np.asarray(each, dtype=float)[:, j])) for each in (after, truth))
    return WhatIf(f"What if {decision} {words}?", before, found, true, trust)


def lines_of(story: Story, output: Path) -> list[str]:
    """Return the lines of the screen."""
    said = [
        f"A log of {N_TRAIN} dispatches: 3 prices and 5 demands were known, 3 plants were run.",
        "The grid behind it (5 lines, 3 plants) is hidden. What does the log give away?",
        "",
        *limit_lines(
            story.limits,
            story.model.facets_.equalities,
            f"1  The limits, learned in {story.seconds:.1f} s",
            ("hidden truth", story.truths),
        ),
        "",
        f"2  {f'The next {N_TEST} dispatches':<26}    R²   mean error",
    ]
    said += [f"   {name:<26} {r2:5.3f}   {mae:7.3f} MW" for name, r2, mae in story.scores]
    said.append("")
    heads = ("3  ", "   ")
    for head, (decision, *_), answer in zip(heads, QUESTIONS, story.what_ifs, strict=True):
        moved = f"{decision} {answer.before:.2f} -> {answer.after:.2f} MW"
        said.append(f"{head}{answer.text:<36} {moved}  (truth {answer.truth:.2f})")
        said += [f"   {line}" for line in _rests(answer.trust)]
    said += ["", f"4  The page about it: {output}", "   Your own table: feaslearn check --help"]
    return said


def _rests(trust: Trust) -> Sequence[str]:
    """Say how many rows of an answer rest on limits that the log never showed."""
    count, total = int(trust.unseen.sum()), len(trust.unseen)
    if not count:
        return [f"all {total} rows rest on limits that the log shows"]
    names = ", ".join(trust.limits[:2])
    if 2 * count < total:
        return [f"{count} of {total} rows rest on {names}, not seen in the log, and are marked"]
    return [
        f"! {count} of {total} rows rest on {names}, which the log never shows.",
        "  Say what you know (--upper), or do not use this answer.",
    ]
