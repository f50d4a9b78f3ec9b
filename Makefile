# Every target works in a fresh checkout with Python 3.11 or newer and make alone.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
JOBS ?= 2
# The tests of one file share what it sets up and compiles, so they stay in one process.
PYTEST := python -m pytest -n $(JOBS) --dist loadfile

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test check check-types check-style golden bench reproduce docs soak clean \
	soak-examples soak-fuzz soak-limits soak-fits soak-oldest soak-newest soak-package

help: ## print this list
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(VENV)/.demo ## learn the limits of a hidden grid from a log, write demo_report.html
	$(BIN)/feaslearn demo

test: $(VENV)/.test ## run the tests and the examples in the docstrings
	$(BIN)/$(PYTEST)

check: $(VENV)/.test ## lint, format, types, import layers, docstrings
	@$(MAKE) --no-print-directory --output-sync -j $(JOBS) check-types check-style

check-types: $(VENV)/.test
	$(BIN)/mypy

check-style: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/python docs/check_docstrings.py
	$(BIN)/python docs/check_size.py --check

golden: $(VENV)/.test ## what fits, exports and commands give beside benchmarks/golden.json (half an hour)
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/golden.py

bench: $(VENV)/.test ## run every benchmark; each prints a ratio
	$(BIN)/python benchmarks/run.py

reproduce: $(VENV)/.test ## run every experiment: the tables and figures of the paper
	$(BIN)/python -m experiments all

docs: $(VENV)/.docs ## build the documentation; a warning is an error
	$(BIN)/python -m sphinx -W --keep-going -j $(JOBS) -b html docs docs/_build/html
	$(BIN)/python docs/check_site.py docs/_build/html

soak: soak-examples soak-fuzz soak-limits soak-fits soak-oldest soak-newest soak-package ## long: many examples, fuzzing, time limits, fits with drawn options, oldest and newest dependencies, packages

clean: ## remove everything that make made
	rm -rf $(VENV) build dist docs/_build docs/generated docs/auto_examples demo_report.html
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# An environment is installed again only when what it is made from changed.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "feaslearn needs Python 3.11 or newer, this is " + sys.version.split()[0] + ": make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -c constraints.txt -e ".[report]"
	@touch $@

$(VENV)/.test: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -c constraints.txt -e ".[test]"
	@touch $@

$(VENV)/.docs: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -c constraints.txt -e ".[docs]"
	@touch $@

# The soak targets install into environments of their own, so that .venv stays as constraints.txt says.
# $(call in-temporary-venv,COMMANDS): COMMANDS see $$venv, whose bin folder comes first on the path.
define in-temporary-venv
	@set -e; venv=$$(mktemp -d); trap 'rm -rf "$$venv"' EXIT; \
	$(PYTHON) -m venv "$$venv"; PATH="$$venv/bin:$$PATH"; \
	install() { python -m pip install --quiet --disable-pip-version-check "$$@"; }; \
	set -x; $(1)
endef

soak-examples: $(VENV)/.test
	HYPOTHESIS_PROFILE=soak $(BIN)/$(PYTEST) -m "soak or not soak" --ignore tests/soak

soak-limits: $(VENV)/.test
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m soak tests/soak/test_limits.py

soak-fits: $(VENV)/.test
	HYPOTHESIS_PROFILE=soak OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m soak --hypothesis-show-statistics \
		tests/soak/test_drawn_fits.py

soak-fuzz: $(VENV)/.test
	HYPOTHESIS_PROFILE=soak $(BIN)/$(PYTEST) --dist load -m "soak or not soak" tests/soak/test_fuzz.py

# Versions are what is tried here, not many examples.
soak-oldest soak-newest: export HYPOTHESIS_PROFILE = few
soak-oldest:
	$(call in-temporary-venv,install -c constraints-oldest.txt -e ".[test]"; $(PYTEST))

soak-newest:
	$(call in-temporary-venv,install -e ".[test]"; $(PYTEST))

soak-package:
	rm -rf dist
	$(call in-temporary-venv,install build twine; python -m build; twine check --strict dist/*; python tests/soak/wheel.py dist/*.whl)
	$(call in-temporary-venv,install "$$(ls dist/*.whl)[report]"; cd "$$venv"; feaslearn --version; feaslearn demo -o report.html)
	$(call in-temporary-venv,install dist/*.tar.gz; cd "$$venv"; feaslearn --version)
