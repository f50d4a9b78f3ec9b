"""How Sphinx builds these pages: everything a page needs comes with it, nothing from a network."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import feaslearn

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from benchmark_page import write_page  # noqa: E402  (found in this folder)

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
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
myst_enable_extensions = ["attrs_block", "colon_fence", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
templates_path = ["_templates"]

html_theme = "furo"
html_title = f"feaslearn {release}"
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#0b6e4f",
        "color-brand-content": "#0b6e4f",
    },
    "dark_css_variables": {
        "color-brand-primary": "#5fd3a8",
        "color-brand-content": "#5fd3a8",
    },
}

# Formulas: one file of MathJax that draws them with shapes of its own, so that it asks for nothing.
mathjax_package = find_spec("sphinx-mathjax-offline")
assert mathjax_package is not None, 'pip install "feaslearn[docs]"'
assert mathjax_package.origin is not None
mathjax_path = "tex-svg.js"
html_static_path = [
    "_static",
    str(Path(mathjax_package.origin).parent / "static" / "mathjax" / mathjax_path),
]

autodoc_typehints = "none"  # numpydoc says the types
autosummary_generate = True
autosummary_ignore_module_all = False  # a module's page lists what it offers, not what it defines
numpydoc_show_class_members = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": ".",
    "ignore_pattern": r"^(example_tools|cold_store)\.py$",
    "reset_argv": "gallery_arguments.quick",
    "download_all_examples": False,
    "min_reported_time": 1_000_000,  # the time of a quick run on a busy machine says nothing
    "show_signature": False,
    "write_computation_times": False,
}

write_page(HERE.parent / "benchmarks", HERE / "generated" / "benchmarks.md")
