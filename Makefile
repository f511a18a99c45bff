# Every target below sets up what it needs: all that has to be there is Python >= 3.11 (with venv and pip) and make.

PYTHON ?= python3
VENV ?= .venv
PYTEST_FLAGS ?=
LAB_FLAGS ?= $(if $(filter 0,$(shell id -u)),--allow-root)
REPORT_FLAGS ?=

BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed-

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help lab test report lint FORCE

help:
	@echo 'make lab      open the explorer in JupyterLab'
	@echo 'make test     run every test: engine, widgets, notebooks, browser'
	@echo 'make report   write an HTML report for the embedded defaults, print its verdict and path'
	@echo 'make lint     check format, lint, types and the direction of imports'
	@echo
	@echo 'Another Python: make lab PYTHON=python3.12. Another place for the environment: VENV=FOLDER.'

lab: $(INSTALLED)notebook
	$(BIN)/python -m jupyterlab $(LAB_FLAGS) --ServerApp.root_dir="$(CURDIR)/notebooks" --LabApp.default_url=/lab/tree/00_quickstart.ipynb

# Notebooks come first: nbval needs the event loop that a browser test may leave occupied.
test: $(INSTALLED)test
	$(BIN)/python -m pytest notebooks tests $(PYTEST_FLAGS)

report: $(INSTALLED)notebook
	$(BIN)/blueprint-nb report $(REPORT_FLAGS)

lint: $(INSTALLED)test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# A stamp is written after its extra is installed in full, and holds the folder it was installed from: an
# environment that moved with its checkout, or lost its Python, is built anew. The extra `test` includes `notebook`.
installed_from = $(shell test -x $(BIN)/python && cat $(INSTALLED)$(1) 2>/dev/null)

$(INSTALLED)%: pyproject.toml constraints.txt
	@rm -f $@
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "blueprint-nb needs Python >= 3.11, and '$(PYTHON)' is not: it is $$($(PYTHON) --version 2>&1 | tail -1)." >&2; \
	  echo "Name another one, for example: make $(or $(MAKECMDGOALS),lab) PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "'$(PYTHON)' cannot make virtual environments: its modules venv and ensurepip are missing." >&2; \
	  echo "On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@if [ "$$(cat $(VENV)/.made-in 2>/dev/null)" != "$(CURDIR)" ] || ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
	  echo "Making $(VENV)"; $(PYTHON) -m venv --clear $(VENV) && echo "$(CURDIR)" > $(VENV)/.made-in; fi
	@echo "Installing blueprint-nb[$*] into $(VENV); the first time this takes a minute or two"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[$*]'
	@echo "$(CURDIR)" > $@
	@if [ '$*' = test ]; then cp $@ $(INSTALLED)notebook; fi

ifneq "$(call installed_from,notebook)" "$(CURDIR)"
$(INSTALLED)notebook: FORCE
endif
ifneq "$(call installed_from,test)" "$(CURDIR)"
$(INSTALLED)test: FORCE
endif
FORCE:
