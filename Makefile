# Two commands: `make demo` and `make test`.  Each sets up its own environment in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test bench truth docs clean

demo: $(VENV)/.demo
	@$(BIN)/python examples/demo.py

test: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto

bench: $(VENV)/.bench
	OMP_NUM_THREADS=1 $(BIN)/python bench/speed.py
	OMP_NUM_THREADS=1 $(BIN)/python bench/conversion.py

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

truth: $(VENV)/.test
	$(BIN)/python scripts/truth.py

clean:
	rm -rf $(VENV)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "hockeystick needs Python 3.11 or later; call make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "Python's venv module is missing; install the package that has it (Debian, Ubuntu: apt-get install python3-venv)"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e .
	@touch $@

$(VENV)/.test: $(VENV)/.demo
	$(PIP) -e '.[test]'
	@touch $@

$(VENV)/.docs: $(VENV)/.demo
	$(PIP) -e '.[docs]'
	@touch $@

$(VENV)/.bench: $(VENV)/.demo
	$(PIP) -e '.[bench]'
	@touch $@
