# Two commands do everything on a machine that has Python 3.11+, a C++ compiler, make and git:
#   make demo    sets up .venv and runs the whole pipeline on the bundled games
#   make test    sets up .venv and runs the tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(wildcard go_engine/src/*.cpp go_engine/src/*.hpp) CMakeLists.txt
PIP := $(BIN)/python -m pip --disable-pip-version-check
CXX_FILES := $(wildcard go_engine/src/*.cpp go_engine/src/*.hpp)

.PHONY: setup demo test extras test-faults lint format bench ui engine stub clean

setup: $(VENV)/.ready

demo: $(VENV)/.ready
	$(BIN)/alphago run pipeline --profile demo

# Each process of the tests has a home and a Prefect server of its own.
TEST_PROCESSES := 2
test: $(VENV)/.ready
	$(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist loadfile

# Ray and OpenVINO: the product does without them, but then some tests are skipped.
extras: $(VENV)/.ready
	$(BIN)/python -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]; print(*p["cluster"], *p["openvino"], sep="\n")' > $(VENV)/extras.txt
	$(PIP) install -q -c constraints.txt -r $(VENV)/extras.txt

# Servers killed, disks filled, databases locked: what it found is kept in docs/reliability.md.
test-faults: $(VENV)/.ready
	$(BIN)/python -m pytest -m faults

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy go_engine datasets models tasks flows
	$(BIN)/clang-format --dry-run --Werror $(CXX_FILES)

format: $(VENV)/.ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CXX_FILES)

# The peer that the engine is compared with; without it (no network, no build) its lines are left out.
bench: $(VENV)/.ready
	-$(PIP) install -q -c constraints.txt "open_spiel>=2,<3"
	$(BIN)/python -m benchmarks.engine
	$(BIN)/python -m benchmarks.rollout

ui: $(VENV)/.ready
	$(BIN)/alphago ui

# ---- set-up: what is missing is named before anything is installed; torch first, since it is the largest

$(VENV)/.tools:
	@command -v $(PYTHON) >/dev/null || { echo "make: $(PYTHON) is not installed: Python 3.11 or newer is needed (or make PYTHON=/path/to/python)" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' || { echo "make: $(PYTHON) is not Python 3.11, 3.12 or 3.13 (or make PYTHON=/path/to/python)" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "make: $(PYTHON) has no venv module (Debian: apt-get install python3-venv)" >&2; exit 1; }
	@$(PYTHON) -c 'import pathlib, sysconfig, sys; sys.exit(not (pathlib.Path(sysconfig.get_paths()["include"]) / "Python.h").exists())' || { echo "make: the headers of $(PYTHON) are missing (Debian: apt-get install python3-dev)" >&2; exit 1; }
	@command -v $${CXX:-c++} >/dev/null || { echo "make: no C++ compiler found (Debian: apt-get install g++); C++20 is needed" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.dependencies: $(VENV)/.tools pyproject.toml constraints.txt
	$(BIN)/python -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; print(*p["dependencies"], *p["optional-dependencies"]["dev"], sep="\n")' > $(VENV)/requirements.txt
	$(PIP) install -q -c constraints.txt torch
	$(PIP) install -q -c constraints.txt -r $(VENV)/requirements.txt
	@touch $@

$(VENV)/.ready: $(VENV)/.dependencies $(SOURCES)
	$(PIP) install -q --no-deps --no-build-isolation -e .
	@touch $@

# ---- for work on the C++ core: an in-place build (make engine PY=path/to/python) and the committed stub of its module

PY ?= $(BIN)/python
engine:
	cmake -S . -B build/inplace -G Ninja -DALPHAGO_INPLACE=ON -DPython_EXECUTABLE=$$(command -v $(PY)) >/dev/null
	cmake --build build/inplace

stub:
	$(PY) -m nanobind.stubgen -q -m go_engine._core -o go_engine/_core.pyi

clean:
	rm -rf build $(VENV)
