"""The documentation names what the program has."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import click
import pytest

import coview
from coview.cli import program

PAGE = (Path(__file__).parents[1] / "docs" / "command-line.md").read_text(encoding="utf-8")


def options_of(command):
    """Return the long names of a command's own options."""
    names = [option for parameter in command.params for option in parameter.opts if isinstance(parameter, click.Option)]
    return {name for name in names if name.startswith("--")}


def section(name):
    """Return the text below the heading of a command."""
    return re.search(rf"^## coview {name}$(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)[1]


FOR_ALL = options_of(program) | {"--help"}


@pytest.mark.parametrize("name", list(program.commands))
def test_a_section_names_exactly_the_options_of_its_command(name):
    named = set(re.findall(r"--[a-z][a-z-]*", section(name)))
    assert named == options_of(program.commands[name]) - FOR_ALL


def test_the_head_names_the_options_of_the_program():
    head = PAGE.split("## ", maxsplit=1)[0]
    assert set(re.findall(r"(?<=\[)--[a-z-]+", head)) == FOR_ALL


def test_every_section_is_a_command():
    assert set(re.findall(r"^## coview (\S+)$", PAGE, re.MULTILINE)) == set(program.commands)


DOCS = Path(__file__).parents[1] / "docs"
MODULES = [*coview._SUBPACKAGES, "base", "exceptions", "labels"]


def public_names(module):
    """Return the public names of a package with what they stand for."""
    package = import_module(f"coview.{module}")
    return {name: getattr(package, name) for name in package.__all__}


def listed_names(module):
    """Return the names that a page of the API reference lists."""
    text = (DOCS / "reference" / f"{module}.rst").read_text(encoding="utf-8")
    assert f".. currentmodule:: coview.{module}" in text
    return re.findall(r"^   (\w+)$", text.split(":toctree: api/")[1], re.MULTILINE)


LISTED = {module: listed_names(module) for module in MODULES if (DOCS / "reference" / f"{module}.rst").exists()}


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_has_its_page(module):
    """A name that another package exports too has one page, in one of them."""
    elsewhere = [
        value for other, names in LISTED.items() if other != module for value in map(public_names(other).get, names)
    ]
    absent = [
        name
        for name, value in public_names(module).items()
        if name not in LISTED[module] and not any(value is one for one in elsewhere)
    ]
    assert not absent, f"list in docs/reference/{module}.rst: {', '.join(absent)}"


@pytest.mark.parametrize("module", MODULES)
def test_no_page_lists_what_is_not_public(module):
    assert set(LISTED[module]) <= set(public_names(module))
    assert len(set(LISTED[module])) == len(LISTED[module])


def test_every_page_of_the_reference_is_in_its_index():
    text = (DOCS / "reference" / "index.rst").read_text(encoding="utf-8")
    assert set(re.findall(r"^   (\w+)$", text, re.MULTILINE)) == set(LISTED)


def documented_parameters(value):
    """Return the parameters that a docstring describes, None where it describes none."""
    docscrape = pytest.importorskip("numpydoc.docscrape")
    entries = docscrape.NumpyDocString(inspect.getdoc(value) or "")["Parameters"]
    return {name.strip(" *") for entry in entries for name in entry.name.split(",")} or None


DESCRIBED = {
    f"{module}.{name}": value
    for module in MODULES
    for name, value in public_names(module).items()
    if inspect.isfunction(value) or (inspect.isclass(value) and value.__module__.startswith("coview"))
}


@pytest.mark.parametrize("name", DESCRIBED)
def test_docstrings_describe_the_parameters_there_are(name):
    value = DESCRIBED[name]
    documented = documented_parameters(value)
    if documented is None:
        return
    assert documented == {parameter for parameter in inspect.signature(value).parameters if parameter[0] != "_"}


def test_docstrings_were_read():
    assert documented_parameters(DESCRIBED["datasets.fetch"]) == {"name", "data_dir", "empty_rows", "verify"}


def test_every_package_has_a_page_in_the_guide():
    """The guide's pages are listed once each, and every package is the subject of one of them."""
    pages = re.findall(r"^[a-z-]+$", (DOCS / "guide.md").read_text(encoding="utf-8").split("```")[1], re.MULTILINE)
    text = "".join((DOCS / f"{page}.md").read_text(encoding="utf-8") for page in pages)
    assert len(pages) == len(set(pages))
    missing = [package for package in coview._SUBPACKAGES if package != "cli" and f"coview.{package}" not in text]
    assert not missing
