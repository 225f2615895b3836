# Two commands: `make demo` and `make test`, of which `make quick` runs what is not slow.  Each sets up its own environment in .venv
# (`make bench` in .venv-bench).  `make test WITH=opacus` installs Opacus and torch as well, and runs what needs them.
PYTHON ?= python3
VENV := .venv
WITH ?=
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --use-pep517 -c constraints.txt

# `make bench` has an environment of its own: the peers, one by one, so that one that does not install is skipped.
PEERS := opendp dp-accounting autodp prv_accountant riskcal gdpnum fourier-accountant torch opacus
BENCH := .venv-bench
BENCH_BIN := $(BENCH)/bin
# `make wheels`, too: a compiler for other systems, and those who check what it made
WHEELS := .venv-wheels
WHEEL_TOOLS := build scikit-build-core cmake ninja ziglang lief auditwheel abi3audit check-wheel-contents twine pyroma
# what an installation depends on: the compiled core is built by it
SOURCES := pyproject.toml constraints.txt CMakeLists.txt $(wildcard src/hockeystick/native/*.[ch]) src/hockeystick/native/exported.map
TEST := $(VENV)/.test$(WITH)
ONE_CORE := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

.PHONY: demo test quick bench bench-check campaign truth docs man wheels clean

demo: $(VENV)/.demo
	@$(BIN)/python examples/demo.py

test: $(TEST)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto

quick: $(TEST)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -m 'not slow'

bench: $(BENCH)/.bench
	$(BENCH_BIN)/python -m compileall -q src/hockeystick  # as pip does for the peers
	$(ONE_CORE) $(BENCH_BIN)/python -m bench $(BENCH_OPTIONS)

bench-check: $(TEST)
	$(BIN)/python -m bench.instructions

campaign: $(TEST)
	$(ONE_CORE) $(BIN)/python scripts/campaign.py $(CAMPAIGN_OPTIONS)

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

man: $(VENV)/.demo
	$(BIN)/hockeystick --man > docs/hockeystick.1

truth: $(TEST)
	$(ONE_CORE) $(BIN)/python scripts/campaign.py --fresh --runs 25

wheels: $(WHEELS)/.wheels
	$(WHEELS)/bin/python scripts/wheels.py $(WHEELS_OPTIONS)

clean:
	rm -rf $(VENV) $(BENCH) $(WHEELS)

$(BIN)/python $(BENCH_BIN)/python $(WHEELS)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "hockeystick needs Python 3.11 or later; call make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "Python's venv module is missing; install the package that has it (Debian, Ubuntu: apt-get install python3-venv)"; exit 1; }
	@$(PYTHON) -m venv $(patsubst %/bin/python,%,$@)

$(VENV)/.demo: $(SOURCES) | $(BIN)/python
	$(PIP) -e '.[cli]'
	@touch $@

$(TEST): $(VENV)/.demo
	$(PIP) -e '.[test]' $(if $(WITH),-e '.[$(WITH)]')
	@touch $@

$(VENV)/.docs: $(VENV)/.demo
	$(PIP) -e '.[docs]'
	@touch $@

$(WHEELS)/.wheels: constraints.txt | $(WHEELS)/bin/python
	$(WHEELS)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt $(WHEEL_TOOLS)
	@touch $@

$(BENCH)/.bench: $(SOURCES) | $(BENCH_BIN)/python
	$(BENCH_BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[plot]'
	@for peer in $(PEERS); do \
	  echo "installing $$peer"; \
	  $(BENCH_BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt $$peer 2>$(BENCH)/why.txt \
	    || { echo "skipped: $$peer does not install here:"; tail -n 1 $(BENCH)/why.txt; }; \
	done
	@touch $@
