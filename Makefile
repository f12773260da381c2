# Every command of the project. `make` alone lists them.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
PORT := 8000
# Some containers forbid Python to keep what it has compiled; then each of the thousand processes of a test run compiles all it imports.
unexport PYTHONDONTWRITEBYTECODE

help: ## this list
	@grep -hE '^[a-z]+:.*##' Makefile | sed -E 's/^([a-z]+):[^#]*## /  make \1\t/' | expand -t 18

book: environment ## build the site from the stored outputs
	@start=$$(date +%s); $(BIN)/jupyter-book build . -W --keep-going -n && \
	echo "$$(find _build/html/book _build/html/notebooks -name '*.html' | wc -l) pages in $$(($$(date +%s) - start)) s: file://$(CURDIR)/_build/html/index.html"

test: environment ## check everything: tooling, site, and every chapter that can run on this machine
	@$(BIN)/python -m casebook prepare
	@$(BIN)/python -m pytest -n auto --dist loadfile

quick: environment ## check in half a minute what an edit breaks most often: the chapters as stored, headers, cards, the checks
	@$(BIN)/ruff check
	@$(BIN)/python -m casebook check
	@$(BIN)/python -m pytest -q -n auto --dist loadfile tests/unit

serve: book ## build the site and serve it on this machine
	@echo "http://127.0.0.1:$(PORT)/ (Ctrl-C ends it)"; $(BIN)/python -m http.server --bind 127.0.0.1 --directory _build/html $(PORT)

lab: environment ## open copies of the notebooks in JupyterLab (in ~/gpu-python-casebook, or CASEBOOK_LAB)
	@folder=$$($(BIN)/python -m casebook lab) && $(BIN)/jupyter lab "$$folder"

wheelhouse: environment ## download every wheel that the book needs on this machine into wheelhouse/, for a room without network
	@$(BIN)/python -m casebook wheelhouse $(CHAPTERS)

execute: environment ## run the chapters on this machine's GPU and store outputs and receipts (CHAPTERS=01 for some, CLUSTER=gpus on all GPUs)
	@$(BIN)/python -m casebook execute $(CHAPTERS) $(if $(CLUSTER),--cluster $(CLUSTER))

workshop: environment ## copy the chapters without solutions and outputs into _build/workshop
	@$(BIN)/python -m casebook workshop

lock: environment ## write requirements.txt from requirements.in
	@$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate -q requirements.in -o requirements.txt

clean: ## remove the site and the environment
	rm -rf _build .venv

environment:
	@$(if $(PYTHON),,$(error no Python 3.11, 3.12 or 3.13 found; name one: make PYTHON=/path/to/python3.12 …))
	@$(PYTHON) bootstrap.py

.PHONY: help book test quick serve lab wheelhouse execute workshop lock clean environment
