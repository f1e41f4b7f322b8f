# make demo: set up everything and audit the example. make test: set up everything and check it.
PYTHON ?= python3
BIN := .venv/bin
SOURCES := pyproject.toml CMakeLists.txt $(wildcard cpp/*.cpp cpp/src/*.cpp cpp/src/*.hpp cpp/include/anonymatch/*.hpp)
CXX_TESTS := build/cxx-tests

.PHONY: demo test install lint types imports browser tests-python tests-cxx bench studio clean

demo: .venv/.installed
	@mkdir -p build
	@$(BIN)/anonymatch demo --html build/demo.html
	@echo
	@echo "  The program is $(BIN)/anonymatch; '. $(BIN)/activate' puts it on the path."

install: .venv/.installed

test: .venv/.tools lint types imports tests-cxx tests-python

# A C++ compiler is all that is asked of the machine: cmake and ninja come from PyPI.
.venv/bin/python:
	@echo "setting up .venv (under a minute, once)"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

.venv/.installed: $(SOURCES) | .venv/bin/python
	@echo "installing anonymatch in .venv and compiling its kernels (1 to 3 minutes, once)"
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

.venv/.tools: .venv/.installed pyproject.toml
	@echo "installing the tools that check the code in .venv (a minute, once)"
	$(BIN)/python -m pip install --quiet --group test
	@touch $@

lint: .venv/.tools
	$(BIN)/ruff format --check src tests benchmarks docs examples
	$(BIN)/ruff check src tests benchmarks docs examples
	$(BIN)/clang-format --dry-run --Werror $(wildcard cpp/*.cpp cpp/*/*.cpp cpp/*/*.hpp cpp/*/*/*.hpp)

types: .venv/.tools
	$(BIN)/mypy

imports: .venv/.tools
	$(BIN)/lint-imports

# Pages are tested in the system's Chromium; tests say how to get it where this cannot.
browser:
	@if test "$$ANONYMATCH_NO_BROWSER" != 1 && ! { command -v chromium || command -v chromium-browser || command -v google-chrome; } > /dev/null \
		&& test "$$(id -u)" = 0 && command -v apt-get > /dev/null; then \
		echo "installing Chromium for the tests of pages (a minute, once)"; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y chromium > /dev/null || true; fi

tests-python: .venv/.tools browser
	$(BIN)/pytest -n 2 --quiet

# Without NDEBUG, so that the kernels' own assertions hold too; -O1 because sanitizers are slow to optimise.
tests-cxx: .venv/.tools
	$(BIN)/cmake -S . -B $(CXX_TESTS) -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DCMAKE_BUILD_TYPE=Checked -DCMAKE_CXX_FLAGS='-O1 -g1' \
		-DANONYMATCH_TESTS=ON -DANONYMATCH_SANITIZE=ON -DANONYMATCH_WERROR=ON > /dev/null
	$(BIN)/cmake --build $(CXX_TESTS) --parallel 2
	$(BIN)/ctest --test-dir $(CXX_TESTS) --output-on-failure --parallel 2

bench: .venv/.tools
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	$(BIN)/python -m benchmarks

studio: .venv/.installed
	$(BIN)/python -m pip install --quiet --editable '.[studio]'
	$(BIN)/anonymatch studio

clean:
	rm -rf .venv build
	find . -name '*.so' -path './src/*' -delete
