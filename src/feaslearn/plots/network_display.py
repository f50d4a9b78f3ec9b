"""Display of a learned network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from feaslearn.exceptions import DataError
from feaslearn.messages import import_extra
from feaslearn.network import Identification, NetworkLearner
from feaslearn.network.candidates import Line, Node
from feaslearn.plots.canvas import BLUE, GREY, ORANGE, pyplot

Positions = Mapping[Node, tuple[float, float]]

#: Under the learned lines, so that both can be seen.
TRUTH = "#009E73"

#: Lines that are undetermined and not in the network are drawn up to this number.
MOST_POSSIBLE = 40


@dataclass(eq=False, repr=False)
class NetworkDisplay:
    r"""The learned lines: certain ones, and those that other networks do without.

    Blue lines are in every best network :math:`y \in \arg\min \ell(y)`, orange ones in the network
    that was returned but not in all, dotted grey ones only in others. Squares are plants. A broad
    green band marks the true lines, where they are known.

    Parameters
    ----------
    nodes, generators : sequence
        The nodes, and those that have a plant.
    lines : sequence of pairs
        The lines of the learned network.
    identification : Identification, optional
        What `NetworkLearner.identify` said; without it no line is drawn as certain.
    truth : sequence of pairs, optional
        The true lines.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes, once drawn.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> import feaslearn as fl
    >>> data = fl.datasets.make_power5(n_samples=100, random_state=0, line_capacity=1.5)
    >>> plants = {"generators": [1, 3, 5], "generator_capacity": 3.5, "line_capacity": 1.5}
    >>> learner = fl.NetworkLearner(5, **plants, cost=[0, 1, 2], demand=range(3, 8))
    >>> learner = learner.fit(data.signals, data.decisions)
    >>> display = fl.plots.NetworkDisplay.from_estimator(learner)  # doctest: +SKIP
    >>> display.figure_.savefig("network.png")  # doctest: +SKIP
    """

    nodes: Sequence[Node]
    generators: Sequence[Node]
    lines: Sequence[Line]
    identification: Identification | None = None
    truth: Sequence[Line] | None = None

    @classmethod
    def from_estimator(
        cls,
        model: NetworkLearner,
        *,
        identification: Identification | None = None,
        truth: Sequence[Line] | None = None,
        positions: Positions | None = None,
        ax: Any = None,
    ) -> NetworkDisplay:
        """Draw the network of a fitted learner.

        Parameters
        ----------
        model : NetworkLearner
            A fitted learner.
        identification : Identification, optional
            What ``model.identify()`` said; it is asked if this is not given.
        truth : sequence of pairs, optional
            The true lines.
        positions : mapping of node to (x, y), optional
            Where to draw the nodes; by default on a circle.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        NetworkDisplay
            The display, drawn.
        """
        known = model.identify() if identification is None else identification
        display = cls(model.nodes_, model.generators, model.lines_, known, truth)
        return display.plot(positions=positions, ax=ax)

    def plot(self, *, positions: Positions | None = None, ax: Any = None) -> NetworkDisplay:
        """Draw the picture.

        Parameters
        ----------
        positions : mapping of node to (x, y), optional
            Where to draw the nodes; by default on a circle.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        NetworkDisplay
            The display itself.
        """
        plt, networkx = pyplot(), import_extra("networkx", "plot")
        graph = networkx.Graph()
        graph.add_nodes_from(self.nodes)
        if positions is None:
            positions = networkx.circular_layout(graph)
        missing = [node for node in self.nodes if node not in positions]
        if missing:
            raise DataError(f"NetworkDisplay: positions has no place for node {missing[0]!r}")
        self.ax_ = plt.subplots(figsize=(6.0, 5.5))[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        for label, lines, style in self._layers():
            if lines:
                style |= {"edgelist": lines, "ax": self.ax_}
                drawn = networkx.draw_networkx_edges(graph, positions, **style)
                drawn.set_label(f"{label} ({len(lines)})")
        self._draw_nodes(networkx, graph, positions)
        self.ax_.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=2, frameon=False)
        self.ax_.set_title(self._title())
        self.ax_.set_aspect("equal")
        self.ax_.margins(0.1)
        self.ax_.set_axis_off()
        return self

    def _layers(self) -> list[tuple[str, list[Line], dict[str, Any]]]:
        """What is drawn, from the back to the front."""
        known, learned = self.identification, {frozenset(line) for line in self.lines}
        certain = set() if known is None else {frozenset(line) for line in known.certain}
        unsettled = () if known is None else (*known.undetermined, *known.unknown)
        possible = [line for line in unsettled if frozenset(line) not in learned]
        sure = [line for line in self.lines if frozenset(line) in certain]
        others = [line for line in self.lines if frozenset(line) not in certain]
        name = "learned" if known is None else "learned, not certain"
        faint = {"width": 1.2, "edge_color": GREY, "style": "dotted"}
        return [
            ("true line", list(self.truth or ()), {"width": 11, "edge_color": TRUTH, "alpha": 0.3}),
            ("only in other networks", possible if len(possible) <= MOST_POSSIBLE else [], faint),
            (name, others, {"width": 2.5, "edge_color": ORANGE}),
            ("certain", sure, {"width": 3.5, "edge_color": BLUE}),
        ]

    def _draw_nodes(self, networkx: Any, graph: Any, positions: Positions) -> None:
        style = {"node_color": "white", "edgecolors": "black", "ax": self.ax_}
        for is_plant, shape, size in ((True, "s", 480), (False, "o", 380)):
            nodes = [node for node in self.nodes if (node in self.generators) == is_plant]
            style |= {"nodelist": nodes, "node_shape": shape, "node_size": size}
            networkx.draw_networkx_nodes(graph, positions, **style)
        networkx.draw_networkx_labels(graph, positions, ax=self.ax_, font_size=10)

    def _title(self) -> str:
        if self.identification is None:
            return f"{len(self.lines)} learned lines"
        low, high = self.identification.n_networks
        if low == high == 1:
            return "The only network that fits as well"
        if low == high:
            return f"One of {low} networks that fit equally well"
        return f"One of at least {low} networks that fit equally well"
