"""The documentation names what the program has."""

import re
from pathlib import Path

import click
import pytest

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
