# The main targets are `make demo` and `make test`. Both create .venv if it does not exist, and install the
# dependencies in pyproject.toml if that file changed.

VENV ?= .venv
JOBS ?= 2
PROBLEMS ?= 1000
FIRST ?= 0
PYTEST_ARGS ?=
SPHINXOPTS ?=
RELEASE_ARGS ?=
DATA ?= $(STRUCTSVM_DATA)
WORK ?= paper
SECONDS ?= 600
KILLS ?= 40
OF ?= commands
SEED ?= 0

# Interpreters to try, in order. To choose one: make PYTHON=/path/to/python3.12 test
PYTHON ?= python3 python3.14 python3.13 python3.12 python3.11 python

BIN := $(VENV)/bin
OLDEST := $(VENV)-oldest
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# uv installs in a fifth of pip's time. It ignores pip's settings, so pip takes over where uv fails. Neither compiles
# modules, because most of them are never imported. pip reads dependency groups since version 25.1.
INSTALL := install() { \
  { $(PIP) install --only-binary uv uv && $(BIN)/uv pip install --quiet --python $(BIN)/python "$$@"; } || \
  { $(PIP) install 'pip>=25.1' && $(PIP) install --no-compile "$$@"; }; }; install

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo docs docs-serve linkcheck test test-all test-oldest check audit bench paper wheel release-check changelog campaign kills fuzz clean

help:
	@echo "make demo         install the package and run the main experiment"
	@echo "make test         install the development tools and run the tests"
	@echo "make test-all     run the tests, then the slow ones"
	@echo "make check        lint code and prose, check formatting and types"
	@echo "make docs         build the site into docs/_build/html; warnings are errors"
	@echo "make docs-serve   show the site at http://localhost:8000"
	@echo "make bench        run the benchmarks and write docs/benchmarks.md and benchmarks/notes/; takes half an hour"
	@echo "make wheel        build wheel and sdist into dist/"
	@echo "make clean        remove the virtual environment and the caches"
	@echo "CONTRIBUTING.md describes the other targets."

demo: $(VENV)/.installed
	@$(BIN)/structsvm demo

# The workers use the cores, so each has one BLAS thread. With worksteal, a worker begins with its share of the files,
# so that few files run on several workers: each worker repeats the data and fits of a file. The tests start hundreds of
# processes. Each would compile scikit-learn again if PYTHONDONTWRITEBYTECODE were set.
TEST := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
RUN_TESTS := -m pytest -n $(JOBS) --dist worksteal

test: $(VENV)/.installed-dev
	@$(TEST) $(BIN)/python $(RUN_TESTS) $(PYTEST_ARGS)

test-all: test
	@$(TEST) $(BIN)/python $(RUN_TESTS) -m slow $(PYTEST_ARGS)

test-oldest: $(OLDEST)/.installed-dev
	@$(TEST) $(OLDEST)/bin/python $(RUN_TESTS) $(PYTEST_ARGS)

check: $(VENV)/.installed-dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/python -m tests.prose
	@$(BIN)/python -m tests.docs.validate

docs: $(VENV)/.installed-docs
	@$(BIN)/python -m pytest -q --noconftest tests/docs/test_formulas.py tests/docs/test_search.py tests/docs/test_site.py
	@OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -W --keep-going -n -q $(SPHINXOPTS) -j auto -d docs/_build/doctrees -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

docs-serve: docs
	@$(BIN)/python -m http.server --directory docs/_build/html 8000

linkcheck: $(VENV)/.installed-docs
	@$(BIN)/python -m sphinx -q -b linkcheck docs docs/_build/linkcheck

fuzz: $(VENV)/.installed-dev
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.fuzz --seconds $(SECONDS) --seed $(SEED) --jobs $(JOBS)

audit: $(VENV)/.installed-dev
	@$(PIP) install pip-audit zizmor
	@$(BIN)/zizmor --quiet --offline .github
	@$(BIN)/pip-audit --skip-editable

# To run some benchmarks: .venv/bin/python -m benchmarks run NAME ..., then .venv/bin/python -m benchmarks report
bench: $(VENV)/.installed-bench
	@status=0; $(BIN)/python -m benchmarks run || status=1; $(BIN)/python -m benchmarks report; exit $$status

# WORK stores finished experiments: after Ctrl-C, the same command resumes.
paper: $(VENV)/.installed-dev
	@$(BIN)/python -m benchmarks.paper --data "$(DATA)" --work "$(WORK)" --jobs $(JOBS)

# Files in the archives have the time of the last commit, or hatchling's default if git is absent.
wheel: $(VENV)/.installed-dev
	@rm -rf dist
	@epoch=$$(git log -1 --format=%ct 2>/dev/null); $${epoch:+env SOURCE_DATE_EPOCH=$$epoch} $(BIN)/hatchling build
	@cd dist && sha256sum * 2>/dev/null || shasum -a 256 *

release-check: wheel
	@$(PIP) install uv
	@$(BIN)/python -m tests.release dist $(RELEASE_ARGS)

changelog: $(VENV)/.installed-dev
	@$(PIP) install towncrier
	@$(BIN)/towncrier build $(if $(VERSION),--yes --version $(VERSION),--draft --version Unreleased)

# To repeat a problem by its number: .venv/bin/python -m tests.campaign --only NUMBER
campaign: $(VENV)/.installed-dev
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.campaign $(PROBLEMS) --first $(FIRST) --jobs $(JOBS)

kills: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.kills $(KILLS) --of "$(OF)" --seed $(SEED) --jobs $(JOBS)

clean:
	rm -rf $(VENV) $(OLDEST) .mypy_cache .pytest_cache .ruff_cache .hypothesis docs/_build docs/gallery docs/reference/generated
	find structsvm tests docs examples -name __pycache__ -type d -prune -exec rm -rf {} +

# venv installs pip last: if pip is missing, the environment is incomplete.
$(BIN)/pip:
	@for python in $(PYTHON); do \
	  command -v "$$python" >/dev/null 2>&1 || continue; \
	  "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || continue; \
	  recent=$$python; \
	  "$$python" -c 'import ensurepip, venv' >/dev/null 2>&1 || continue; \
	  echo "Creating $(VENV) with $$("$$python" --version)"; \
	  exec "$$python" -m venv "$(VENV)"; \
	done; \
	if [ -n "$$recent" ]; then \
	  echo "$$("$$recent" --version) has no venv module. Install it (Debian, Ubuntu: apt install python3-venv)," >&2; \
	else \
	  echo "structsvm needs Python 3.11 or newer; found none of $(PYTHON). Install one," >&2; \
	fi; \
	echo "or name another interpreter: make PYTHON=/path/to/python3" >&2; \
	exit 1

$(VENV)/.installed: pyproject.toml | $(BIN)/pip
	@echo "Installing structsvm and its dependencies into $(VENV)"
	@$(INSTALL) --editable '.[cvxopt,lambdamart,plot,tools]'
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/pip
	@echo "Installing structsvm, its dependencies and the development tools into $(VENV)"
	@$(INSTALL) --editable . --group dev
	@touch $(VENV)/.installed $@

$(OLDEST)/.installed-dev: pyproject.toml
	@$(MAKE) --no-print-directory VENV=$(OLDEST) $(OLDEST)/bin/pip
	@echo "Installing the oldest versions that structsvm allows into $(OLDEST)"
	@$(OLDEST)/bin/python -m pip --disable-pip-version-check --quiet install uv
	@$(OLDEST)/bin/uv pip install --quiet --python $(OLDEST)/bin/python --resolution lowest-direct --editable . --group dev
	@touch $@

$(VENV)/.installed-docs: pyproject.toml | $(BIN)/pip
	@echo "Installing structsvm and the packages that build its site into $(VENV)"
	@$(INSTALL) --editable . --group docs
	@touch $(VENV)/.installed $@

# The installation compiles dlib, which takes minutes and needs a C++ compiler. The benchmarks also run without dlib.
$(VENV)/.installed-bench: pyproject.toml | $(BIN)/pip
	@echo "Installing structsvm and the packages of the benchmarks into $(VENV); compiling dlib takes minutes"
	@$(INSTALL) --editable . --group bench
	@$(INSTALL) --group dlib || echo "could not install dlib: the benchmarks run without it" >&2
	@touch $(VENV)/.installed $@
