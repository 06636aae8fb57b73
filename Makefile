# Everything Octavo needs is installed from PyPI into this folder. Only Python 3.11 or later is required, and no root.

PYTHON ?= python3
UV := .uv/bin/uv
BIN := .venv/bin
READY := .venv/.ready
READY_TO_TEST := .venv/.ready-to-test

# Keep compiled Python files even if the environment disables them, because these commands start Python many times.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: setup serve check check-python check-style check-types check-web test-web test test-all bench release

setup: $(READY)
	@$(BIN)/python web/build.py

$(UV):
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Octavo needs Python 3.11 or later. To choose one: make PYTHON=python3.12")'
	$(PYTHON) -m venv .uv
	.uv/bin/python -m pip install --quiet --disable-pip-version-check 'uv>=0.8,<1'

$(READY): pyproject.toml uv.lock | $(UV)
	$(UV) sync --frozen --quiet --no-dev --python $(PYTHON)
	@rm -f $(READY_TO_TEST)
	@touch $@

# The dependencies of Octavo, and of tests, checks, and benches.
$(READY_TO_TEST): $(READY)
	$(UV) sync --frozen --quiet --python $(PYTHON)
	@touch $@

serve: setup
	$(BIN)/octavo serve

# The checks of Python and of web/ are independent, so they run in parallel.
check: $(READY_TO_TEST)
	@$(MAKE) --no-print-directory -j2 check-python check-web

check-python: check-style check-types

check-style: $(READY_TO_TEST)
	$(BIN)/ruff format --check
	$(BIN)/ruff check --no-cache

check-types: $(READY_TO_TEST)
	$(BIN)/mypy

check-web: $(READY_TO_TEST)
	$(BIN)/python web/build.py check

test-web: check-web
	$(BIN)/python web/build.py
	$(BIN)/python web/build.py test

# The tests need the app, and run beside the longer checks.
test: check-style
	@$(BIN)/python web/build.py
	$(BIN)/python tests/with_checks.py -n auto --dist worksteal -m 'not slow'

# Random tests start from a new seed, which failures show.
test-all: check-style
	@$(BIN)/python web/build.py
	OCTAVO_TEST_SEED=$${OCTAVO_TEST_SEED:-$$(date +%s)} $(BIN)/python tests/with_checks.py -n auto --dist worksteal

# Runs all benches within half an hour, with one table of figures in bench/out/.
bench: $(READY_TO_TEST)
	@$(UV) sync --frozen --quiet --group bench --python $(PYTHON)
	@$(BIN)/python bench/run.py

# Creates the wheel, the list of its components, and checksums in dist/.
release: $(READY_TO_TEST)
	@$(UV) sync --frozen --quiet --group release --python $(PYTHON)
	@$(BIN)/python packaging/release.py
