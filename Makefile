PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready

.PHONY: book test faults lint bench pages check zoo clean

book: $(READY)          ## run the studies on the embedded default, render _build/html
	$(BIN)/probekit book

test: $(READY)          ## run the tests
	HF_HUB_OFFLINE=1 $(BIN)/python -m pytest

faults: $(READY)        ## try to break it: kills, full disks, a soak; the table of the book's page
	$(BIN)/python tests/faults.py --soak 10 --out book/recorded/faults.csv

lint: $(READY)          ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY)         ## timings, as ratios within one run
	HF_HUB_OFFLINE=1 $(BIN)/python -m benchmarks
	HF_HUB_OFFLINE=1 $(BIN)/python -m benchmarks.contexts

pages: $(READY)         ## also update the executed pages in book/studies
	$(BIN)/probekit book --pages

check: $(READY)         ## print the ledger of claims
	$(BIN)/probekit check

zoo: $(READY)           ## train the shipped small models anew from their recipes
	$(BIN)/probekit zoo --ship

clean:                  ## remove what was built; results in the cache stay
	rm -rf _build $(VENV) *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(READY): pyproject.toml constraints.txt
	$(shell command -v $(PYTHON) || command -v python3) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[book,dev]"
	touch $@
