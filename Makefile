# Two commands are the whole set-up: `make site` does the main job, `make test` runs every check.

PYTHON ?= python3
SUITE  ?= quick
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: site test lint bench clean
.DELETE_ON_ERROR:

site: $(VENV)/site.stamp
	$(BIN)/sitegen build --suite $(SUITE)

# The tests in two halves side by side, one a core: those that trace and train models, and all the others.
test: $(VENV)/test.stamp lint
	@$(BIN)/python -m pytest tests/workload > $(VENV)/workload.log 2>&1 & models=$$!; \
	$(BIN)/python -m pytest --ignore tests/workload; others=$$?; \
	wait $$models; models=$$?; cat $(VENV)/workload.log; \
	exit $$((models > others ? models : others))

lint: $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/interrogate --quiet sitegen

bench: $(VENV)/test.stamp
	$(BIN)/python tests/bench/bench.py

$(VENV)/site.stamp: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed; name one: make site PYTHON=python3.11")'
	@echo "Creating the environment in $(VENV) (torch and transformers: a few minutes at most)"
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --constraint constraints.txt --editable '.[qlora]'
	@touch $@

$(VENV)/test.stamp: $(VENV)/site.stamp tests/requirements.txt
	$(PIP) install --constraint constraints.txt --requirement tests/requirements.txt
	sh .ci/system-packages
	@touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .sitegen
