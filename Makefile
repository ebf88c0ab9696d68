# make demo   set up, then run the main job on real data and write coview-demo/report.html
# make test   set up, then run the tests
# make clean  remove what these two made; make distclean removes the environment too
#
# Choices: PYTHON=python3.13 (interpreter), VENV=dir (environment), ARGS="..." (passed on to coview demo or pytest).

VENV = .venv
PYTHON =
ARGS =

# These would let packages of another Python into the environment.
unexport PYTHONHOME PYTHONPATH

.PHONY: demo test setup clean distclean

demo: setup
	@"$(VENV)/bin/python" -m coview demo $(ARGS)

test: setup
	@"$(VENV)/bin/python" -m pytest $(ARGS)

setup:
	@PYTHON="$(PYTHON)" sh tools/setup.sh "$(VENV)"

clean:
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	if test -f coview-demo/.coview-demo; then rm -rf coview-demo; fi
	find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	rm -rf "$(VENV)"
