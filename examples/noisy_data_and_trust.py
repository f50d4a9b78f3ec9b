"""
Noisy data, and how far to trust the answer
===========================================

*Four questions to a learned region, on the dispatch of three plants that is observed with noise.*

It needs the extra ``plot``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import feaslearn as fl
from example_tools import main, print_table

# %%
# 1. How large is the error, 2. between what will the next decision lie?
# ----------------------------------------------------------------------
# ``conformalize`` calibrates bands on rows that the fit has not seen; nine of ten next decisions
# lie in theirs, whatever the class leaves out.


def fit(n_samples: int) -> fl.RegionRegressor:
    """Fit a Minkowski sum, a convex class, to noisy dispatch."""
    data = fl.datasets.make_power5(n_samples, noise=0.2, random_state=0)
    model = fl.RegionRegressor(fl.Minkowski.hypersimplices(3), cost=data.cost, random_state=0)
    return model.fit(data.signals, data.decisions)


class Results(NamedTuple):
    """R² by number of samples, and bands by number of samples."""

    scores: dict[int, float]
    truth: np.ndarray
    bands: dict[str, Any]
    unseen: list[str]


def run(quick: bool = False) -> Results:
    """Print the answers; return them."""
    sizes = (50, 200) if quick else (50, 200, 1000)
    test = fl.datasets.make_power5(300, random_state=1)
    fitted = {size: fit(size) for size in sizes}
    scores = {size: fitted[size].score(test.signals, test.decisions) for size in sizes}
    shown = test[:8]
    later = fl.datasets.make_power5(200, noise=0.2, random_state=2)
    methods = {}
    for size in (50, 200):
        model = fitted[size].conformalize(later.signals, later.decisions)
        methods[f"{size} samples"] = model.predict_interval(shown.signals)
    print_table(
        "1. R² against dispatch without noise",
        ("", *(f"{size} samples" for size in sizes)),
        [("R²", *(f"{scores[size]:.3f}" for size in sizes))],
    )
    print_table(
        "2. mean width of 90 % bands of eight dispatches that are observed with noise",
        ("", "width"),
        [(name, f"{bands.width.mean():.3f}") for name, bands in methods.items()],
    )
    unseen = questions(fitted[200], test)
    return Results(scores, shown.decisions, methods, unseen)


# %%
# 3. What did the data show, and 4. is this signal like those seen?
# -----------------------------------------------------------------
# ``explain`` lists the limits that no price ever pushed a plant to: about these nothing was
# learned, whatever the model predicts there. With a signal, it says how far that is from all seen.


def questions(model: fl.RegionRegressor, data: fl.Decisions) -> list[str]:
    """Print what the model knows, and what it says of a signal far away; return unseen limits."""
    unseen = [str(limit) for limit in model.explain().unseen]
    print("3.", "\n3. ".join(unseen) or "every limit was seen")
    far = data.signals[0].copy()
    far[3:] *= 2.0
    for column in model.explain(far).outside:
        print("4.", column)
    return unseen


# %%
# The picture
# -----------
# One panel for each plant: eight hours, the true dispatch as dots, bands of 50 and 200 samples. A
# band is for all plants of an hour together, and as wide as noise and errors of the model need.


def draw(results: Results) -> Any:
    """Draw the bands of each plant."""
    import matplotlib.pyplot as plt

    plants = results.truth.shape[1]
    figure, panels = plt.subplots(1, plants, figsize=(10.0, 3.6), sharey=True, layout="constrained")
    hours = np.arange(1, len(results.truth) + 1)
    for plant, panel in enumerate(panels):
        for place, (name, bands) in enumerate(results.bands.items()):
            center = bands.center[:, plant]
            reach = [center - bands.lower[:, plant], bands.upper[:, plant] - center]
            panel.errorbar(
                hours + 0.22 * (place - 1), center, reach, fmt="_", color=f"C{place}", label=name
            )
        panel.plot(hours, results.truth[:, plant], "k.", label="true dispatch", zorder=3)
        panel.set(title=f"plant {plant + 1}", xlabel="test hour")
    panels[0].set_ylabel("power")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


if __name__ == "__main__":
    main("noisy_data_and_trust", run, draw)
