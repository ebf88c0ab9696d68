"""Finding the folders that only the source has."""

import click
import pytest

import coview
from coview.cli._checkout import checkout_folder


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """An installed package, whose parent folder is no checkout."""
    monkeypatch.setattr(coview, "__path__", [str(tmp_path / "site-packages" / "coview")])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_running_checkout_is_found_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "clone"
    (root / "src" / "coview").mkdir(parents=True)
    (root / "experiments").mkdir()
    (root / "pyproject.toml").write_text('[project]\nname = "coview"\n')
    monkeypatch.setattr(coview, "__path__", [str(root / "src" / "coview")])
    assert checkout_folder("experiments") == root / "experiments"


def test_the_checkout_around_the_current_folder_is_found(installed, monkeypatch):
    (installed / "experiments" / "deeper").mkdir(parents=True)
    (installed / "pyproject.toml").write_text('[project]\nname = "coview"\n')
    monkeypatch.chdir(installed / "experiments" / "deeper")
    assert checkout_folder("experiments") == installed / "experiments"


@pytest.mark.parametrize("text", [None, "[project]\nname = 'other'\n", "project = 1", "[no toml", "project = 'coview'"])
def test_elsewhere_says_where_to_get_the_source(installed, text):
    (installed / "experiments").mkdir()
    if text is not None:
        (installed / "pyproject.toml").write_text(text)
    with pytest.raises(click.ClickException, match="source distribution of this version") as failure:
        checkout_folder("experiments")
    assert failure.value.exit_code == 1
