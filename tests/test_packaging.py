"""pyproject.toml agrees with the files that must follow it."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import coview

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def lower_bounds(lines):
    """Return name -> lowest version allowed, one bound each."""
    bounds = {}
    for requirement in map(Requirement, lines):
        ((operator, version),) = [(clause.operator, clause.version) for clause in requirement.specifier]
        assert operator == ">=", f"{requirement} has no plain lower bound"
        bounds[requirement.name] = version
    return bounds


def padded(version):
    """Return 2.0 and 2.0.0 as one thing."""
    return tuple(map(int, version.split("."))) + (0,) * (3 - version.count(".") - 1)


def test_floor_requirements_are_the_lower_bounds(project):
    lines = (ROOT / "tools" / "floor-requirements.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if "==" in line and not line.startswith("#"))
    wanted = lower_bounds([*project["dependencies"], *project["optional-dependencies"]["test"]])
    assert {name: padded(version) for name, version in pinned.items()} == {
        name: padded(version) for name, version in wanted.items()
    }


def test_the_python_floor_is_the_one_that_set_up_looks_for(project):
    assert project["requires-python"] == ">=3.11"
    script = (ROOT / "tools" / "setup.sh").read_text(encoding="utf-8")
    assert "sys.version_info < (3, 11)" in script
    named = set(re.findall(r"python(3\.\d+) ", script)) | set(re.findall(r" (3\.\d+)", script))
    classified = {line.rsplit(" ", 1)[1] for line in project["classifiers"] if re.search(r":: 3\.\d+$", line)}
    assert classified <= named


def test_every_subpackage_is_reachable_from_coview():
    packages = {path.parent.name for path in (ROOT / "src" / "coview").glob("*/__init__.py")}
    assert packages <= set(coview.__all__)
    for name in packages:
        assert getattr(coview, name).__name__ == f"coview.{name}"


def test_unknown_name_of_coview_raises():
    with pytest.raises(AttributeError, match="module 'coview' has no attribute 'modality'"):
        coview.modality  # noqa: B018 - the access is what is tested


def test_dir_lists_the_public_names():
    assert dir(coview) == sorted(coview.__all__)
    assert {"Views", "__version__", "datasets"} <= set(dir(coview))
