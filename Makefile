PYTHON ?= python3.11
PYTHONS ?= python3.11 python3.12 python3.13
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
TOOLS := .venv-tools
BENCH := .venv-bench
PIP := -m pip --quiet --disable-pip-version-check install --no-compile
LOCK := $(TOOLS)/bin/uv pip compile --quiet --generate-hashes --no-annotate --no-emit-index-url --no-emit-find-links \
	--custom-compile-command "make lock" --python $(TOOLS)/bin/python

TESTS := $(BIN)/python -m pytest --numprocesses auto --dist loadfile

export PYTHONDONTWRITEBYTECODE :=  # what is imported is compiled once, not once a page

.PHONY: book site pdf wheel matrix test test-all fuzz faults lint audit sbom lock bench gpu large pages record check zoo clean

book: $(READY)          ## run the studies on the embedded default, render _build/html
	$(BIN)/probekit book

site: book              ## pack the book into _build/probekit-book.zip, and say its size
	cd _build && rm -f probekit-book.zip && ../$(BIN)/python -m zipfile --create probekit-book.zip html
	@ls -l --human-readable _build/probekit-book.zip

wheel: $(READY)         ## make the source archive in dist, and from it the wheel
	rm -rf dist
	$(BIN)/python -c "from setuptools import build_meta; build_meta.build_sdist('dist')"
	$(BIN)/python -m pip --disable-pip-version-check wheel --quiet --no-deps --no-build-isolation --wheel-dir dist dist/*.tar.gz
	@ls -l --human-readable dist

matrix: wheel           ## run the wheel and the tests on each of PYTHONS that is here
	@for name in $(PYTHONS); do \
	  if $$name --version > /dev/null 2>&1; then $(MAKE) matrix-$$name || exit 1; else echo "*** NOT TRIED: $$name is not here"; fi; \
	done

matrix-%:
	$* -m venv --clear $(VENV)-$*
	$(VENV)-$*/bin/python $(PIP) --constraint constraints.txt "$$(echo dist/*.whl)[book,cluster,dev,play,train]"
	cd $(VENV)-$* && bin/probekit check | tail -n 1 && bin/probekit run 12_accuracy --profile recorded --out run
	HF_HUB_OFFLINE=1 $(VENV)-$*/bin/python -m pytest

pdf: book               ## print the book to _build/probekit.pdf, by Chromium
	$(BIN)/python -m tools.pdf

test: $(READY)          ## run the quick tests, on every core
	$(TESTS) -m "not slow"

test-all: test          ## the slow ones too: whole pages, kernels, trainings, the wheel, a browser, a cluster
	$(TESTS) -m slow

fuzz: $(READY)          ## damaged files and arguments, FUZZ_CASES of each kind
	FUZZ_CASES=$${FUZZ_CASES:-5000} $(BIN)/python -m pytest --hypothesis-show-statistics tests/robust/test_damaged.py

faults: $(READY)        ## try to break it: kills, full disks, a queue, a soak; the table of the book's page
	FAULT_CASES=10 SOAK_MINUTES=60 FAULT_TABLE=book/recorded/faults.csv OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/robust/test_faults.py tests/unit/run/test_cluster.py

lint: $(READY)          ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@$(MAKE) --silent audit

audit:                  ## ask the package index for known vulnerabilities of what is installed
	@$(MAKE) --silent $(TOOLS)/ready || echo "*** NOT AUDITED: the tools of locks/tools.txt could not be installed"
	@test ! -e $(TOOLS)/ready || $(TOOLS)/bin/python -m tools.audit locks/torch.txt locks/tools.txt locks/packages.txt

sbom: $(READY) $(TOOLS)/ready  ## list what is installed as _build/sbom.json (CycloneDX) and its licences as _build/licences.md
	mkdir -p _build
	$(TOOLS)/bin/cyclonedx-py environment $(BIN)/python --pyproject pyproject.toml --output-reproducible --output-format JSON --output-file _build/sbom.json
	$(BIN)/python -m tools.licences _build/sbom.json > _build/licences.md

lock: $(TOOLS)/ready    ## write the hashes of all that constraints.txt pins, see CONTRIBUTING
	$(LOCK) --constraint constraints.txt --no-emit-package torch --extra book --extra cluster --extra dev --extra play --extra train pyproject.toml --output-file locks/packages.txt
	$(LOCK) --group supply --output-file locks/tools.txt

bench: $(BENCH)/ready   ## timings against other packages, as ratios within one run; the tables of the book's page
	HF_HUB_OFFLINE=1 $(BENCH)/bin/python -m benchmarks --out book/recorded

gpu: $(READY)           ## on a machine with a GPU: its numbers beside the CPU's, its speed and memory; a section of the book's page
	HF_HUB_OFFLINE=1 $(BIN)/python -m benchmarks.gpu --out book/recorded

large: $(READY)         ## install the extra `large`, and run the tests that need it: adapters, weights in fewer bits
	$(BIN)/python $(PIP) --constraint constraints.txt --no-build-isolation --editable ".[large]"
	$(TESTS) tests/unit/models/test_large.py

pages: $(READY)         ## also update the executed pages in book/studies
	$(BIN)/probekit book --pages

# A page is asked from the store where it was asked before, so that what was interrupted goes on; CONTRIBUTING says the hours.
RECORDED ?= $(shell awk '/^[0-9]/ {page = $$1} /^    lab:/ {sub(":", "", page); print page}' studies.yml)
record: $(READY)        ## ask the recorded models anew, on PROBEKIT_DATA, and keep tables and ranks; or RECORDED=12_accuracy
	$(BIN)/python $(PIP) --constraint constraints.txt --no-build-isolation --editable ".[minilm]"
	@for page in $(RECORDED); do \
	  echo "$$(date +%T) $$page"; $(BIN)/probekit run $$page --profile lab --record --force --out _build/record || exit 1; \
	done

check: $(READY)         ## print the ledger of claims
	$(BIN)/probekit check

zoo: $(READY)           ## train the shipped small models anew from their recipes
	$(BIN)/probekit zoo --ship

clean:                  ## remove what was built; results in the cache stay
	rm -rf _build build dist $(VENV) $(VENV)-* *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

# Packages are installed with their hashes checked, and built with nothing fetched; what is left comes last and is named.
# Python compiles the modules that it imports; to compile them all takes as long as to install them.
$(READY): pyproject.toml constraints.txt locks/packages.txt locks/torch.txt
	$(shell command -v $(PYTHON) || command -v python3) -m venv --clear $(VENV)
	$(BIN)/python $(PIP) --require-hashes --no-deps --requirement locks/packages.txt
	$(BIN)/python $(subst install --no-compile,download,$(PIP)) --no-deps --constraint constraints.txt --dest $(VENV)/torch torch
	$(BIN)/python $(PIP) --require-hashes --no-deps --no-index --find-links $(VENV)/torch --requirement locks/torch.txt \
	|| echo "*** NOT CHECKED: the torch to be had here is no build that locks/torch.txt lists; it is installed all the same"
	rm -r $(VENV)/torch
	$(BIN)/python -m pip --disable-pip-version-check install --no-compile --constraint constraints.txt --no-build-isolation --editable ".[book,cluster,dev,play,train]" \
	> $(VENV)/pip.log || { cat $(VENV)/pip.log; exit 1; }
	@sed -n -e 's/ probekit-[^ ]*//' -e 's/^Successfully installed /*** NOT CHECKED, for no lock file has it: /p' $(VENV)/pip.log
	touch $@

$(TOOLS)/ready: locks/tools.txt
	$(shell command -v $(PYTHON) || command -v python3) -m venv --clear $(TOOLS)
	$(TOOLS)/bin/python $(PIP) --require-hashes --no-deps --requirement locks/tools.txt
	touch $@

# In an environment of their own; honest pins another Unidecode than ours.
$(BENCH)/ready: benchmarks/requirements.txt constraints.txt
	$(shell command -v $(PYTHON) || command -v python3) -m venv --clear $(BENCH)
	grep -iv unidecode constraints.txt > $(BENCH)/constraints.txt
	$(BENCH)/bin/python $(PIP) --constraint $(BENCH)/constraints.txt torch
	$(BENCH)/bin/python $(PIP) --constraint $(BENCH)/constraints.txt --requirement benchmarks/requirements.txt --editable ".[book,dev]"
	touch $@
