# make demo   set up, then run the main job on real data and write coview-demo/report.html
# make test   set up, then run the tests
# make docs   set up, then build the documentation into docs/_build/html
# make clean  remove what these made; make distclean removes the environment too
#
# Choices: PYTHON=python3.13 (interpreter), VENV=dir (environment), ARGS="..." (passed on to coview demo or pytest).

VENV = .venv
PYTHON =
ARGS =

# These would let packages of another Python into the environment.
unexport PYTHONHOME PYTHONPATH

.PHONY: demo test docs setup clean distclean

demo: setup
	@"$(VENV)/bin/python" -m coview demo $(ARGS)

test: setup
	@"$(VENV)/bin/python" -m pytest $(ARGS)

docs: setup
	@"$(VENV)/bin/python" -c "import sphinx_gallery, myst_parser, numpydoc, pydata_sphinx_theme" 2>/dev/null || \
	    "$(VENV)/bin/python" -m pip install --quiet --no-input -e '.[docs]'
	@rm -rf docs/reference/api  # pages of names that are gone
	@"$(VENV)/bin/python" -m sphinx -q -W --keep-going docs docs/_build/html $(ARGS)
	@"$(VENV)/bin/python" tools/check_site.py docs/_build/html
	@echo "The documentation: docs/_build/html/index.html"

setup:
	@PYTHON="$(PYTHON)" sh tools/setup.sh "$(VENV)"

clean:
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -rf docs/_build docs/gallery docs/reference/api docs/sg_execution_times.rst
	if test -f coview-demo/.coview-demo; then rm -rf coview-demo; fi
	find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	rm -rf "$(VENV)"
