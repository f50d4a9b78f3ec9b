"""How Sphinx builds these pages."""

from __future__ import annotations

import feaslearn

project = "feaslearn"
author = "feaslearn developers"
project_copyright = "2026, feaslearn developers"
release = feaslearn.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
]
myst_enable_extensions = ["dollarmath"]
exclude_patterns = ["_build"]
templates_path = ["_templates"]

html_theme = "furo"
html_title = f"feaslearn {release}"

autodoc_typehints = "none"  # numpydoc says the types
autosummary_generate = True
autosummary_ignore_module_all = False  # a module's page lists what it offers, not what it defines
numpydoc_show_class_members = False
