"""
A first region
==============

*Two decisions, one price, and why a region predicts what a regression cannot.*

A decision maker buys one unit of two goods. The first costs :math:`s`, the second :math:`1-s`, and
nobody tells us that one unit is all that is bought:

.. math:: \\min \\{\\, s\\,x_1 + (1-s)\\,x_2 : x_1 + x_2 = 1,\\; 0 \\le x \\le 2 \\,\\}

We see sixty prices and purchases. It needs the extra ``plot``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LinearRegression

import feaslearn as fl
from example_tools import main, print_table

# %%
# Three ways to learn it
# ----------------------
# The *linear policy* is a regression of purchases on the price. The other two learn a region, and
# predict the cheapest purchase in it: once as the hull of two points that are to be found
# (``Affine(Simplex(2))``), once by its rows (``Facets``). The cost is known, so it is said:
# ``data.cost`` reads :math:`(s, 1-s)` from the signal.


def models(data: fl.Decisions) -> dict[str, Any]:
    """Fit all three to the same purchases."""
    found = {
        "linear policy": LinearRegression(),
        "two points": fl.RegionRegressor(fl.Affine(fl.Simplex(2)), cost=data.cost, random_state=0),
        "rows": fl.RegionRegressor(fl.Facets(), cost=data.cost, random_state=0),
    }
    return {name: model.fit(data.signals, data.decisions) for name, model in found.items()}


# %%
# What they make of it
# --------------------
# Purchases jump where the goods cost the same. A regression smears the jump over all prices; a
# region has it exactly, from the first sample on either side. And it answers to prices that were
# never seen: were the second good free, all would buy that.


class Results(NamedTuple):
    """The data, the fitted models, and their mean squared errors on other prices."""

    data: fl.Decisions
    models: dict[str, Any]
    errors: dict[str, float]


def run(quick: bool = False) -> Results:
    """Print errors and vertices; return what was learned."""
    data = fl.datasets.make_switch(60, random_state=0)
    test = fl.datasets.make_switch(100 if quick else 1000, random_state=1)
    fitted = models(data)
    errors = {
        name: float(((model.predict(test.signals) - test.decisions) ** 2).sum(axis=1).mean())
        for name, model in fitted.items()
    }
    print_table(
        "squared error on other prices",
        ("", "error"),
        [(name, f"{error:.6f}") for name, error in errors.items()],
    )
    for name in ("two points", "rows"):
        corners = fitted[name].region([0.3]).vertices()
        print(f"corners of the region, {name}:", np.round(corners, 6).tolist())
    answer = fitted["rows"].predict([[0.3]], costs=[[5.0, 0.0]])
    print("were the second good free:", np.round(answer, 6).tolist())
    return Results(data, fitted, errors)


# %%
# The picture
# -----------
# Left: what each model would buy of the first good. Right: the region that was learned, with the
# purchases seen and the direction in which it gets cheaper at :math:`s = 0.3`.


def draw(results: Results) -> Any:
    """Draw the policies, and the region of the rows."""
    import matplotlib.pyplot as plt

    figure, (policy, region) = plt.subplots(1, 2, figsize=(9.0, 3.8), layout="constrained")
    data = results.data
    prices = np.linspace(0.0, 1.0, 401)[:, None]
    policy.plot(data.signals[:, 0], data.decisions[:, 0], "k.", label="seen", zorder=3)
    styles = {"linear policy": ("0.6", "-"), "two points": ("C0", "-"), "rows": ("C3", "--")}
    for name, (color, line) in styles.items():
        bought = results.models[name].predict(prices)[:, 0]
        policy.plot(prices[:, 0], bought, line, color=color, label=name)
    policy.set(xlabel="price s", ylabel="bought of the first good")
    policy.legend()
    fl.plots.RegionDisplay.from_estimator(
        results.models["rows"], [0.3], y=data.decisions, ax=region
    )
    region.set(xlabel="first good", ylabel="second good")
    return figure


if __name__ == "__main__":
    main("a_first_region", run, draw)
