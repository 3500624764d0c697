# Two commands do everything on a machine with Python >= 3.11, pip and make:
#   make run     the main job on the bundled sample; says where the results are
#   make test    the checks and all tests that are quick; make test-all also the long ones: every check that CI makes
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
CONTRACT := tests/contract/node_modules/.ready
OLD_DUCKDB := .cache/duckdb-1.0.0/.ready
BROWSER := $(VENV)/.browser
NOTEBOOK := .cache/notebook
TOOLS := .cache/tools
IMAGE := .cache/image
TESTED := $(READY) $(CONTRACT) $(OLD_DUCKDB) $(BROWSER)

# The wheels of requirements/ by their hashes and nothing else: no other file is taken, no code of theirs runs to install
# them, and pip resolves nothing (that of Debian 12 could not: it takes sqlalchemy[asyncio] for another than sqlalchemy)
LOCKED := --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all:
# errmine itself, built by the hatchling that is locked, from this folder alone
ITSELF := --quiet --disable-pip-version-check --no-index --no-deps --no-build-isolation
# make lock: what pyproject.toml asks for, for every Python from the oldest on; versions stay where they can
UPGRADE ?=
COMPILE := $(TOOLS)/bin/uv pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes \
  --custom-compile-command "make lock" --constraint requirements/floors.txt $(UPGRADE)

.PHONY: run test test-long test-all check format golden schemas notebook bench lock sbom audit clean

run: $(READY)
	$(BIN)/errmine run

test: $(TESTED) check
	$(BIN)/pytest -n 3 -m "not long"

test-long: $(TESTED)
	$(BIN)/pytest -n 3 -m long

test-all: test test-long

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# curated/sample is what errmine makes of raw/sample; a test rebuilds it and compares every byte
golden: schemas
	$(BIN)/python -m tests.golden
	$(BIN)/python -m tests.packs_page
	$(BIN)/python -m tests.readme
	$(BIN)/python -m tests.cookbook
	$(BIN)/python -m tests.schema_page
	$(BIN)/python -m tests.python_page

schemas: $(READY)
	$(BIN)/python -m pipeline.export.schemas

# docs/notebook.ipynb in a kernel of its own, on the sample; its plots are committed, and differ where matplotlib does
notebook: $(READY) $(NOTEBOOK)/.ready
	PYTHONPATH=$(NOTEBOOK) $(BIN)/python -m tests.notebook

bench: $(READY)
	$(BIN)/python -m benchmarks

# make lock UPGRADE=--upgrade takes newer versions too; CONTRIBUTING.md says what to run after it
lock: $(TOOLS)/.ready
	$(COMPILE) --extra dev --group build --output-file requirements/dev.txt pyproject.toml
	$(COMPILE) --constraint requirements/dev.txt --output-file requirements/runtime.txt pyproject.toml
	$(COMPILE) --constraint requirements/dev.txt --extra dask --output-file requirements/dask.txt pyproject.toml
	$(COMPILE) --constraint requirements/dev.txt --group build --output-file requirements/build.txt
	$(COMPILE) --constraint requirements/dev.txt --group browser --output-file requirements/browser.txt
	$(COMPILE) --constraint requirements/dev.txt --group notebook --output-file requirements/notebook.txt
	$(COMPILE) --group tools --output-file requirements/tools.txt
	$(COMPILE) --output-file requirements/old-duckdb.txt requirements/old-duckdb.in
	rm -rf .cache/npm && mkdir -p .cache/npm && cp tests/contract/package*.json .cache/npm  # an installed tree has no hashes
	npm install --prefix .cache/npm --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved --no-audit \
	  --no-fund --loglevel=error
	cp .cache/npm/package-lock.json tests/contract

# what an installation without extras consists of, with licences and who needs what; SECURITY.md says what it covers.
# errmine is installed by its name, not its path, which would stand in the result
sbom: $(READY) $(TOOLS)/.ready
	rm -rf $(IMAGE) && $(BIN)/python -m venv --without-pip $(IMAGE)/venv
	$(BIN)/pip --python $(IMAGE)/venv/bin/python install $(LOCKED) --requirement requirements/runtime.txt
	$(BIN)/pip wheel $(ITSELF) --wheel-dir $(IMAGE) .
	$(BIN)/pip --python $(IMAGE)/venv/bin/python install $(ITSELF) --find-links $(IMAGE) errmine
	@mkdir -p dist
	$(TOOLS)/bin/cyclonedx-py environment --output-reproducible --output-file dist/errmine.cdx.json $(IMAGE)/venv

# asks a database of advisories about every locked version; "no data" is a status of its own, see tests/audit.py
audit: $(READY) $(TOOLS)/.ready
	$(BIN)/python -m tests.audit $(TOOLS)/bin/pip-audit

$(READY): pyproject.toml requirements/dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "errmine needs Python 3.11 or newer;" \
	  "$(PYTHON) is $$($(PYTHON) -V 2>&1). Try: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install $(LOCKED) --requirement requirements/dev.txt
	$(BIN)/pip install $(ITSELF) --editable .
	touch $@

$(NOTEBOOK)/.ready: requirements/notebook.txt | $(READY)
	$(BIN)/pip install $(LOCKED) --upgrade --target $(@D) --requirement $<
	touch $@

$(TOOLS)/.ready: requirements/tools.txt
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/pip install $(LOCKED) --requirement $<
	touch $@

# GitHub's published contract and recorded answers; where they cannot be had, the tests that need them say so and skip
$(CONTRACT): tests/contract/package.json tests/contract/package-lock.json
	@mkdir -p $(@D)
	@if ! command -v npm >/dev/null; then echo "no npm: the tests of GitHub's contract are skipped"; \
	elif npm ci --prefix $(<D) --ignore-scripts --no-audit --no-fund --loglevel=error --fetch-retries=1; then touch $@; \
	else echo "npm could not install: the tests of GitHub's contract are skipped"; fi

# the oldest DuckDB that the database is written for; where it cannot be had, the test that asks it says so and skips
$(OLD_DUCKDB): requirements/old-duckdb.txt | $(READY)
	@mkdir -p $(@D)
	@if $(BIN)/pip install $(LOCKED) --upgrade --target $(@D) --requirement $<; then touch $@; else echo "no duckdb 1.0.0: the test that the database opens there is skipped"; fi

# what drives a browser through the site, and its search; where they or Chromium cannot be had, those tests say so and skip
$(BROWSER): requirements/browser.txt | $(READY)
	@if $(BIN)/pip install $(LOCKED) --requirement $<; then touch $@; else echo "no playwright: the tests of the site in a browser are skipped"; fi

clean:
	rm -rf $(VENV) .cache .errmine build dist
