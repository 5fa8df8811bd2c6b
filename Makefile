# make run: set everything up and compare methods on a robot; make test: set everything up and test.
PYTHON ?= python3
BIN := .venv/bin
METHODS ?= expo,variational,coulomb/pgs,semi-implicit-euler,rk4,mujoco

SEED ?= 1
COUNT ?= 1000

.PHONY: run test lint docs fuzz check-robots clean

run: .venv/runtime
	$(BIN)/stickslip compare solo12-squat --methods $(METHODS) --time 1 --out out/solo12-squat

test: .venv/development lint
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

lint: .venv/development
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

# COUNT mutated files and command lines of every kind; cases that fail are kept in out/fuzz.
# CONTRIBUTING.md says how to try kills and full disks.
fuzz: .venv/development
	$(BIN)/python tests/fuzz/run.py --seed $(SEED) --count $(COUNT)
# The site, out/site/index.html: searchable, without a network; a broken link is an error.
docs: .venv/documentation
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	@echo "open out/site/index.html"

# The bundled robots against the URDFs themselves (downloads 130 MB of robot data).
check-robots: .venv/development
	$(BIN)/python -m pip install --quiet --no-deps example-robot-data
	$(BIN)/python -m pytest tests/model/test_bundled_robots.py

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "stickslip needs Python 3.11 or newer; this is $$($(PYTHON) --version). Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv .venv || { rm -rf .venv; exit 1; }

.venv/runtime: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --no-compile --editable .
	touch $@

.venv/development: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

.venv/documentation: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@

clean:
	rm -rf .venv out
