"""Draw what each hypothesis learns from the same 100 decisions, for a light and a dark page.

Two decisions within a region that is cut by a limit which moves with one signal; prices of both
signs. Every model sees the same rows; the titles hold the mean squared loss on 400 others. Run it
with ``python docs/images/hypotheses.py``; it writes ``hypothesis_*.png`` beside itself, and
``front_*.png``: the rows, and what `Facets` makes of them at three signals.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray

mpl.use("Agg")

import matplotlib.pyplot as plt
from scipy.spatial import ConvexHull

import feaslearn as fl

Array = NDArray[np.float64]

HERE = Path(__file__).parent
N_TRAIN, N_TEST = 100, 400
#: Where the region is drawn: the signal in the middle of its range.
SIGNAL = 0.5
PAGES = {
    "light": {"text": "#1a1a1a", "true": "#6b7280", "learned": "#0b6e4f", "dots": "#b45309"},
    "dark": {"text": "#e5e5e5", "true": "#9ca3af", "learned": "#5fd3a8", "dots": "#fbbf24"},
}
HYPOTHESES = {
    "facets": ("Facets()", fl.Facets()),
    "affine": ("Affine(Simplex(6))", fl.Affine(fl.Simplex(6))),
    "minkowski": ('Minkowski("auto")', fl.Minkowski("auto")),
}


def rows(signal: float) -> tuple[Array, Array]:
    """Return the true region ``{x : a x <= b}`` at a signal; one limit moves with it."""
    a = np.array([[1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1]], dtype=float)
    return a, np.array([2.0, 2.0, 0.0, 0.0, 2.0 + 1.5 * signal, 1.2])


def corners(signal: float) -> Array:
    """Return the vertices of the true region, in order around it."""
    a, b = rows(signal)
    pairs = [list(pair) for pair in combinations(range(len(b)), 2)]
    points = [np.linalg.solve(a[i], b[i]) for i in pairs if abs(np.linalg.det(a[i])) > 1e-9]
    inside = np.array([x for x in points if (a @ x <= b + 1e-9).all()])
    return inside[ConvexHull(inside).vertices]


def make(count: int, random: np.random.Generator) -> fl.Decisions:
    """Return prices, one further signal, and the corner of least cost."""
    costs, signals = random.uniform(-1, 1, (count, 2)), random.uniform(0, 1, count)
    vertices = [corners(signal) for signal in signals]
    decisions = [V[np.argmin(V @ c)] for V, c in zip(vertices, costs, strict=True)]
    return fl.Decisions.from_arrays(
        np.column_stack([costs, signals]), np.array(decisions), cost=[0, 1]
    )


def outline(region: fl.Region) -> Array:
    """Return the closed outline of a learned region by its minimisers in many directions."""
    angles = np.linspace(0, 2 * np.pi, 721)
    return np.array([region.minimize([np.cos(t), np.sin(t)]) for t in angles])


def panel(
    ax: Any, title: str, ink: dict[str, str], learned: Array | None, seen: Array, signal: float
) -> None:
    """Draw decisions and, where they are given, the learned region and the true one."""
    if learned is not None:
        true = np.vstack([corners(signal), corners(signal)[:1]])
        ax.fill(*learned.T, color=ink["learned"], alpha=0.25, lw=0)
        ax.plot(*learned.T, color=ink["learned"], lw=2, label="learned")
        ax.plot(*true.T, color=ink["true"], lw=1.5, ls="--", label="true")
    ax.scatter(*seen.T, s=14, color=ink["dots"], zorder=3, label="decisions at nearby signals")
    ax.set(xlim=(-0.4, 2.5), ylim=(-0.4, 2.9), aspect="equal")
    ax.set_title(title, fontsize=9, color=ink["text"])
    ax.tick_params(colors=ink["text"], labelsize=7)
    ax.patch.set_alpha(0.0)
    for side in ax.spines.values():
        side.set_color(ink["true"])


def draw_front(model: fl.RegionRegressor, data: fl.Decisions, page: str) -> None:
    """Write the picture of the front page: decisions, then the region at three signals."""
    ink = PAGES[page]
    figure, axes = plt.subplots(1, 4, figsize=(10, 2.9), dpi=150, sharey=True)
    panel(axes[0], "what you see: 100 decisions", ink, None, data.decisions, SIGNAL)
    for ax, signal in zip(axes[1:], (0.1, 0.5, 0.9), strict=True):
        seen = data.decisions[np.abs(data.signals[:, 2] - signal) < 0.1]
        learned = outline(model.region([0.0, 0.0, signal]))
        panel(ax, f"learned, signal {signal}", ink, learned, seen, signal)
    axes[1].legend(fontsize=7, loc="upper left", frameon=False, labelcolor=ink["text"])
    figure.tight_layout()
    figure.savefig(HERE / f"front_{page}.png", transparent=True)
    plt.close(figure)


def draw(name: str, title: str, page: str, learned: Array, seen: Array) -> None:
    """Write one picture."""
    ink = PAGES[page]
    figure, ax = plt.subplots(figsize=(3.4, 3.2), dpi=150)
    panel(ax, title, ink, learned, seen, SIGNAL)
    ax.legend(fontsize=7, loc="upper left", frameon=False, labelcolor=ink["text"])
    figure.tight_layout()
    figure.savefig(HERE / f"hypothesis_{name}_{page}.png", transparent=True)
    plt.close(figure)


def main() -> None:
    """Fit every hypothesis to the same rows and draw it."""
    data = make(N_TRAIN + N_TEST, np.random.default_rng(0))
    train, test = data[:N_TRAIN], data[N_TRAIN:]
    near = np.abs(train.signals[:, 2] - SIGNAL) < 0.1
    for name, (title, hypothesis) in HYPOTHESES.items():
        model = fl.RegionRegressor(hypothesis, cost=data.cost, random_state=0)
        model.fit(train.signals, train.decisions)
        missed = model.predict(test.signals) - test.decisions
        loss = float((missed**2).sum(axis=1).mean())
        shown = "0" if loss < 5e-7 else f"{loss:.3f}"
        print(f"{title:<36} test loss {loss:.3g}")
        learned = outline(model.region([0.0, 0.0, SIGNAL]))
        for page in PAGES:
            if name == "facets":
                draw_front(model, train, page)
            draw(name, f"{title}: test loss {shown}", page, learned, train.decisions[near])


if __name__ == "__main__":
    main()
