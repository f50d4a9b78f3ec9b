"""How Sphinx builds these pages."""

from __future__ import annotations

import sys
from pathlib import Path

import feaslearn

sys.path.insert(0, str(Path(__file__).parent))  # gallery_arguments

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
    "sphinx_gallery.gen_gallery",
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

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": ".",
    "ignore_pattern": r"(example_tools|cold_store)\.py",
    "reset_argv": "gallery_arguments.quick",
    "download_all_examples": False,
    "min_reported_time": 1_000_000,  # the time of a quick run on a busy machine says nothing
    "show_signature": False,
    "write_computation_times": False,
}
