# All that a machine needs is Python 3.11 or newer; PYTHON=… chooses one. Everything is installed into .venv.
PYTHON ?= python3
BIN := .venv/bin
# The everyday tests hardly wait; of those in CI many do, so that two more processes than processors are of use there.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + $(if $(CI)$(ARGS),2,0))
INSTALLED := .venv/installed
# Compiling a thousand modules anew in each process that a test starts takes longer than the tests.
export PYTHONDONTWRITEBYTECODE :=
EXPORT := --quiet --no-emit-project --no-annotate --no-header

.PHONY: demo up test check acceptance bench bench-scan format lock clean

demo: $(INSTALLED)  ## watch an ability being taught; KEEP=1 leaves everything running
	$(BIN)/apprentice demo $(if $(KEEP),--keep)

up: $(INSTALLED)  ## run everything until Ctrl-C; ARGS="--api-port 0"
	$(BIN)/apprentice up $(ARGS)

test: $(INSTALLED)  ## in some minutes; CI=true runs every test, ARGS=tests/cli all of a part
	$(BIN)/pytest -n $(WORKERS) --dist worksteal $(if $(CI)$(ARGS),,-m "not thorough") $(ARGS)
	$(if $(CI)$(ARGS),,@echo "Those that take longer are left out: make test CI=true runs every test.")

acceptance: $(INSTALLED)  ## run everything and write docs/acceptance.md from it
	$(BIN)/pytest -n $(WORKERS) --dist worksteal --acceptance-report=docs/acceptance.md

check: $(INSTALLED)  ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports

bench: $(INSTALLED)  ## everything beside its floor; ARGS="--only lookup"
	$(BIN)/python -m bench $(ARGS)

bench-scan: $(INSTALLED)  ## what the scanner of foreign skills finds and wrongly accuses; SKILLS=folder of good ones
	$(BIN)/python -m bench.scan $(SKILLS)

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock:  ## after a change of dependencies; needs uv
	uv lock
	uv export $(EXPORT) --all-extras --output-file requirements.lock
	uv export $(EXPORT) --no-dev --extra meaning --extra postgres --output-file docker/requirements.lock

clean:  ## removes what make made, and no data
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis .import_linter_cache dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(INSTALLED): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@
