"""Inference from fitted models: coverage of the data, explanation, consistency, bands."""
