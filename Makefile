# Every command of the project. `make` alone lists them.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
PORT := 8000
# Some containers set PYTHONDONTWRITEBYTECODE; without .pyc files every subprocess recompiles its imports.
unexport PYTHONDONTWRITEBYTECODE

help: ## show this help
	@grep -hE '^[a-z]+:.*##' Makefile | sed -E 's/^([a-z]+):[^#]*## /  make \1\t/' | expand -t 18

book: ## build the site from the stored outputs
	@$(call bootstrap,site)
	@start=$$(date +%s); $(BIN)/jupyter-book build . -W --keep-going -n && \
	echo "$$(find _build/html/book _build/html/notebooks -name '*.html' | wc -l) pages in $$(($$(date +%s) - start)) s: file://$(CURDIR)/_build/html/index.html"

# What passed here with the same inputs does not run again, unless FRESH is set.
test: export CASEBOOK_REMEMBER = $(if $(FRESH),,1)
test: environment ## check everything: tooling, site, each chapter
	@$(BIN)/python -m casebook prepare || missing=1; \
	$(BIN)/python -m pytest -n auto --dist loadfile --ignore tests/places; status=$$?; \
	[ -z "$$missing" ] || $(BIN)/python -m casebook prepare || status=1; exit $$status

tooling: environment ## check the tooling and the content alone, as CI does on every Python
	@$(BIN)/python -m pytest -n auto --dist loadfile tests/unit tests/process tests/content

places: environment ## check Colab, JupyterHub, containers, the wheel (slow)
	@$(BIN)/python -m pytest -n auto --dist loadfile tests/places

quick: lint ## lint, stored outputs, unit tests
	@$(BIN)/python -m casebook check
	@$(BIN)/python -m pytest -q -n auto --dist loadfile tests/unit

lint: environment ## check style (ruff, oxlint), types (mypy) and layers (import-linter)
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet
	@$(BIN)/mypy
	@PYTHONPATH=book/_ext $(BIN)/lint-imports --no-logo
	@$(BIN)/oxlint --quiet --deny correctness --allow no-unused-vars --allow no-control-regex book/_static
	@! grep -nE '^.{101,}' book/_static/*.js

serve: book ## build the site and serve it on this machine
	@echo "http://127.0.0.1:$(PORT)/ (Ctrl-C ends it)"; $(BIN)/python -m http.server --bind 127.0.0.1 --directory _build/html $(PORT)

lab: environment ## open copies of the notebooks in JupyterLab
	@folder=$$($(BIN)/python -m casebook lab) && $(BIN)/jupyter lab "$$folder"

execute: environment ## run chapters on a GPU and store outputs (CHAPTERS=01)
	@$(BIN)/python -m casebook execute $(CHAPTERS)

workshop: environment ## copy the chapters without solutions for a workshop
	@$(BIN)/python -m casebook workshop $(CHAPTERS)

lock: environment ## compile the requirements from pyproject.toml
	@$(BIN)/python bootstrap.py lock

clean: ## remove the site and the environment
	rm -rf _build .venv .venv.*

environment:
	@$(call bootstrap,)

bootstrap = $(if $(PYTHON),"$(PYTHON)" bootstrap.py $(1),$(error no Python 3.11, 3.12 or 3.13 found; name one: make PYTHON=/path/to/python3.12 …))

.PHONY: help book test tooling places quick lint serve lab execute workshop lock clean environment
