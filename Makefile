# Every target sets up what it needs, from a bare checkout: JDK 17+, Python 3.11+ and make are enough.
PYTHON  ?= python3
VENV    ?= .venv
BIN     := $(VENV)/bin
STAMP   := $(VENV)/.installed
JAR     := slaq/spark/jars/slaq-bridge.jar

.PHONY: browser coverage demo test test-spark-versions quick check setup clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    show SLAQ at work"
	@echo "make test    run every test"
	@echo "make test-spark-versions   run the tests that touch Spark on every supported Spark"
	@echo "make quick   run the tests that need no Spark, property tests with fewer examples; a minute"
	@echo "make coverage   run every iterative example program of the pyspark wheel, plain and under slaq submit"
	@echo "make check   linters, types and layer rules"

setup: $(STAMP) $(JAR)

# What the build needs comes first and the build runs without isolation: an isolated one would fetch pyspark twice.
$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet 'pyspark>=3.5' 'hatchling>=1.21' editables
	$(BIN)/python -m pip install --quiet --no-build-isolation -e '.[dev,scheduler]'
	@touch $@

$(JAR): jvm-bridge/build.py $(shell find jvm-bridge/src -type f) | $(STAMP)
	$(BIN)/python jvm-bridge/build.py

demo: setup
	$(BIN)/slaq demo

# Two workers; the tests of a file stay together and share its Spark session.
WORKERS ?= 2
PYTEST  := $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile

test: setup browser
	$(PYTEST)

# The tests of the page drive the distribution's Chromium. Where it is missing it is installed, which takes root.
browser:
	@command -v chromium > /dev/null || command -v chromium-browser > /dev/null || command -v google-chrome > /dev/null \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null \
	       && apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } \
	  || { echo "no browser for the tests of the page: install one as root, such as apt-get install chromium"; \
	       [ -z "$$CI" ]; }

# One jar, built once, on every Spark: the other environments get what the tests import and find slaq by its path.
OLDER_SPARKS ?= 3.5 4.0

test-spark-versions: setup $(OLDER_SPARKS:%=.venv-spark-%/.installed)
	for version in $(OLDER_SPARKS); do \
	  PYTHONPATH=. .venv-spark-$$version/bin/python -m pytest -q tests/spark || exit 1; \
	done
	$(BIN)/python -m pytest -q tests/spark

# pyspark 3.5 was written before numpy 2.
.venv-spark-%/.installed: Makefile
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet 'pyspark~=$*.0' $(if $(filter 3.5,$*),'numpy<2',numpy) scipy msgspec click \
	  rich 'pytest>=8' 'pytest-timeout>=2.3' 'hypothesis>=6.100'
	@touch $@

quick: setup
	$(PYTEST) -m 'not spark and not slow' --hypothesis-profile=quick

coverage: setup
	$(BIN)/slaq bench coverage

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:
	rm -rf $(VENV) .venv-spark-* build dist
