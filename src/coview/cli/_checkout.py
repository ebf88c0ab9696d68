"""Find what only a checkout of the source has: the folders ``experiments`` and ``benchmarks``."""

import tomllib
from pathlib import Path

import click

import coview

__all__ = ["checkout_folder"]


def checkout_folder(name: str) -> Path:
    """Return the folder of this name in the checkout that coview runs from, else in the one around the current folder.

    Parameters
    ----------
    name : str
        ``"experiments"`` or ``"benchmarks"``.

    Returns
    -------
    folder : Path
        An existing folder beside the ``pyproject.toml`` of coview.

    Raises
    ------
    ClickException
        There is no such checkout: the installed package does not hold the folder.
    """
    here = Path.cwd()
    for root in (*_source_roots(), here, *here.parents):
        if (root / name).is_dir() and _is_checkout(root):
            return root / name
    raise click.ClickException(
        f"The folder '{name}' is part of the source of coview, not of the installed package. Get the source, either a "
        "clone of its repository or the source distribution of this version (pip download --no-deps --no-binary "
        f"coview coview=={coview.__version__}, then unpack it), and run the command in its folder."
    )


def _source_roots() -> list[Path]:
    """The folder that holds ``src/coview`` if the running package lies in such a tree."""
    packages = [Path(place).resolve() for place in coview.__path__]
    return [package.parents[1] for package in packages if package.parent.name == "src"]


def _is_checkout(root: Path) -> bool:
    """Whether the folder holds a ``pyproject.toml`` of coview."""
    try:
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8")).get("project", {})
    except (OSError, ValueError):
        return False
    return isinstance(project, dict) and project.get("name") == "coview"
