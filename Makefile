# Two commands do everything on a machine with Python >= 3.11, pip and make:
#   make run     the main job on the bundled sample; says where the results are
#   make test    every check that CI makes
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
CONTRACT := tests/contract/node_modules/.ready
OLD_DUCKDB := .cache/duckdb-1.0.0/.ready

.PHONY: run test check format golden schemas bench clean

run: $(READY)
	$(BIN)/errmine run

test: $(READY) $(CONTRACT) $(OLD_DUCKDB) check
	$(BIN)/pytest -n 2

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# curated/sample is what errmine makes of raw/sample; a test rebuilds it and compares every byte
golden: $(READY)
	$(BIN)/python -m tests.golden
	$(BIN)/python -m tests.readme
	$(BIN)/python -m tests.cookbook
	$(BIN)/python -m tests.schema_page

schemas: $(READY)
	$(BIN)/python -m pipeline.export.schemas

bench: $(READY)
	$(BIN)/python -m benchmarks

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "errmine needs Python 3.11 or newer;" \
	  "$(PYTHON) is $$($(PYTHON) -V 2>&1). Try: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@

# GitHub's published contract and recorded answers; where they cannot be had, the tests that need them say so and skip
$(CONTRACT): tests/contract/package.json
	@mkdir -p $(@D)
	@if ! command -v npm >/dev/null; then echo "no npm: the tests of GitHub's contract are skipped"; \
	elif npm install --prefix $(<D) --no-audit --no-fund --loglevel=error --fetch-retries=1; then touch $@; \
	else echo "npm could not install: the tests of GitHub's contract are skipped"; fi

# the oldest DuckDB that the database is written for; where it cannot be had, the test that asks it says so and skips
$(OLD_DUCKDB): | $(READY)
	@mkdir -p $(@D)
	@if $(BIN)/pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --upgrade --target $(@D) \
	  duckdb==1.0.0; then touch $@; else echo "no duckdb 1.0.0: the test that the database opens there is skipped"; fi

clean:
	rm -rf $(VENV) .cache .errmine build dist
