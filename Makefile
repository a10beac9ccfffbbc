PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# An in-place build of the C++ core for work in a checkout: PY=path/to/python make engine
PY ?= $(BIN)/python
.PHONY: engine
engine:
	cmake -S . -B build/inplace -G Ninja -DALPHAGO_INPLACE=ON -DPython_EXECUTABLE=$$(command -v $(PY)) -DCMAKE_BUILD_TYPE=Release >/dev/null
	cmake --build build/inplace
