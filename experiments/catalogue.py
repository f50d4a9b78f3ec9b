"""All experiments, in the order of the page."""

from __future__ import annotations

from experiments import (
    bilinear_noiseless,
    bilinear_noisy,
    binary_simplex,
    binding_lines,
    convergence,
    convex,
    ellipsoid,
    identities,
    ieee14,
    losses,
    network,
    power5,
    region_path,
    signal_noise,
    switch,
    table1,
    topologies,
)
from experiments.frame.experiment import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (
        losses,
        identities,
        switch,
        table1,
        convergence,
        region_path,
        convex,
        bilinear_noiseless,
        bilinear_noisy,
        binary_simplex,
        ellipsoid,
        power5,
        topologies,
        ieee14,
        binding_lines,
        network,
        signal_noise,
    )
}
