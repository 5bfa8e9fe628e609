# What CI runs is what you run. `make up` and `make test` need Python 3.11 and make, nothing else.

PYTHON ?= python3.11
PORT ?=
CLUSTER ?=
TESTS ?= tests
# Two is what a small machine can bear; a bigger one takes JOBS=auto.
JOBS ?= 2

VENV := .venv
RUN := $(VENV)/bin/python
TEMPLATES := $(shell find templates -name '*.html')
# Throw-away values that look like production: the checks judge those settings.
PRODUCTION = env DEBUG=0 HTTPS=1 STATIC_FROM_SOURCE=0 ALLOWED_HOSTS=pilothouse.example \
  SECRET_KEY=$(shell $(RUN) -c 'import secrets; print(secrets.token_urlsafe(48))') \
  PILOTHOUSE_ENCRYPTION_KEYS=$(shell $(RUN) -c 'import base64, os; print(base64.urlsafe_b64encode(os.urandom(32)).decode())') \
  DATABASE_URL=postgresql://pilothouse@localhost/pilothouse REDIS_URL=redis://localhost/0

.PHONY: up down test soak races mutants check fmt pins migrations

up: $(VENV)/.runtime
	@exec $(RUN) -m console.up up $(if $(PORT),--port $(PORT)) $(if $(CLUSTER),--cluster '$(CLUSTER)')

down:
	@if [ -x $(RUN) ]; then exec $(RUN) -m console.up down; else echo "Pilothouse was never started here."; fi

test: $(VENV)/.dev
	$(RUN) -m pytest -n $(JOBS) --dist loadscope -m "not outage" $(TESTS)
	@$(if $(filter tests,$(TESTS)),$(OUTAGES))

# What hits a whole cluster runs alone, after everything else.
OUTAGES = $(RUN) -m pytest -m outage tests/cluster/outages

# The walks on both clusters with every duration at full length.
soak: $(VENV)/.dev
	SOAK=1 $(RUN) -m pytest -n $(JOBS) --dist loadgroup -m "not outage" tests/cluster
	SOAK=1 $(OUTAGES)

# Every order of the races, or a thousand trials of each; `make test` has a hundred.
races: $(VENV)/.dev
	TRIALS=1000 $(RUN) -m pytest -n $(JOBS) --dist loadscope tests/races

# Each guard is taken out in turn; MUTANTS names some.
mutants: $(VENV)/.dev
	JOBS=$(JOBS) $(RUN) -m tests.mutants.run $(MUTANTS)

check: $(VENV)/.dev
	$(RUN) -m ruff format --check .
	$(RUN) -m ruff check .
	$(RUN) -m mypy
	$(VENV)/bin/lint-imports
	$(VENV)/bin/djade --check --target-version 5.2 $(TEMPLATES)
	$(VENV)/bin/djlint --lint --quiet templates
	@$(PRODUCTION) $(RUN) manage.py check --deploy --fail-level WARNING
	$(RUN) -m tests.migrations_check

fmt: $(VENV)/.dev
	$(RUN) -m ruff check --fix .
	$(RUN) -m ruff format .
	-$(VENV)/bin/djade --target-version 5.2 $(TEMPLATES)

# After a change of the dependencies in pyproject.toml.
PINS = $(VENV)/bin/pip-compile --quiet --generate-hashes --strip-extras --allow-unsafe --no-header \
  --no-emit-index-url --no-emit-find-links --no-emit-trusted-host
pins: $(VENV)/.dev
	$(PINS) --output-file requirements.txt pyproject.toml
	$(PINS) --extra dev --constraint requirements.txt --output-file requirements-dev.txt pyproject.toml

# The stamps are files of .venv that are younger than the pins they were installed from.
define install
@command -v $(PYTHON) >/dev/null || { echo "Pilothouse needs Python 3.11; PYTHON=/path/to/python3.11 names it."; exit 1; }
@[ -x $(RUN) ] || { echo "Making $(VENV) with $(PYTHON)"; $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }; }
@echo "Installing what $< pins (the first time this takes a minute)"
@$(RUN) -m pip install --quiet --disable-pip-version-check --require-hashes --requirement $< || { rm -rf $(VENV); echo "Not everything could be installed; $(VENV) was removed, so try again."; exit 1; }
@touch $@
endef

$(VENV)/.runtime: requirements.txt
	$(install)

$(VENV)/.dev: requirements-dev.txt
	$(install)
