"""Who may import whom, and what must not exist in the source; read with `ast`, so nothing is imported here.

`MAY_IMPORT` is the rule: a new edge between packages is a visible change to this table.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "coview"
MAX_LINES = 450
BANNED_NAMES = {"utils", "helpers", "common", "misc"}

# Every package and top-level module of ours, and what each may import besides itself and `exceptions`.
_NUMERICS = {"linalg", "inference"}
_FRONT_DOOR = {"views", "labels", "storage"}
_BELOW_ESTIMATORS = _NUMERICS | _FRONT_DOOR | {"base", "persistence", "kernels", "graphs", "viewwise"}
_BESIDE_MODELS = {"views", "labels", "inference", "storage"}
MAY_IMPORT: dict[str, set[str]] = {
    "exceptions": set(),
    "linalg": set(),
    "inference": {"linalg"},
    "views": set(),
    "labels": set(),
    "storage": set(),
    "files": {"views", "labels"},
    "base": {"views", "labels", "inference"},  # classes and probabilities from scores
    "persistence": {"views", "labels", "files"},
    "kernels": {"views", "linalg", "inference"},
    "graphs": {"views", "linalg", "inference"},
    "viewwise": _NUMERICS | {"views", "labels", "base"},  # one scikit-learn estimator per view
    # estimators
    "gaussian_process": _BELOW_ESTIMATORS,
    "linear_model": _BELOW_ESTIMATORS,
    "semi_supervised": _BELOW_ESTIMATORS,
    "svm": _BELOW_ESTIMATORS,
    "mixture": _BELOW_ESTIMATORS,
    "impute": _BELOW_ESTIMATORS | {"mixture"},
    "cluster": _BELOW_ESTIMATORS,
    "cross_decomposition": _BELOW_ESTIMATORS,
    "neighbors": _BELOW_ESTIMATORS,
    "ensemble": _BELOW_ESTIMATORS | {"neighbors"},
    "text": _BELOW_ESTIMATORS | {"semi_supervised"},
    "compose": _BELOW_ESTIMATORS,
    # users of fitted models
    "acquisition": _BESIDE_MODELS
    | {
        "mixture",
        "model_selection",
        "persistence",
    },  # campaigns keep their model in their file; simulations draw labels
    "inspection": _BESIDE_MODELS | {"metrics", "model_selection"},  # prediction tables state intervals
    "metrics": _BESIDE_MODELS,
    "model_selection": _BESIDE_MODELS | {"compose", "metrics"},  # baselines are pipelines; evaluations score
    "datasets": _BESIDE_MODELS | {"files"},
}
# Front ends, and the package itself, may import everything public.
FRONT_ENDS = {"report", "cli", "app", "__init__", "__main__"}
# The numerical packages that a front end must leave to those who compute.
ARITHMETIC = {"scipy"}
# The one module that may import private names of scikit-learn.
MAY_IMPORT_PRIVATE_SKLEARN = {"base"}


@dataclass(frozen=True)
class Import:
    """One name of one import statement: ``from a.b import c`` has the path ``a.b.c``."""

    line: int
    path: str


def package_of(module: str) -> str:
    """Return ``linalg`` for ``coview.linalg._cholesky`` and ``__init__`` for ``coview`` itself."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def imports_of(tree: ast.AST, module: str, is_package: bool) -> Iterator[Import]:
    """Yield every import of a module, wherever it stands, with relative ones made absolute."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(node.lineno, alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = module.split(".")
                parents = parts[: len(parts) - node.level + is_package]
                base = ".".join([*parents, base] if base else parents)
            for alias in node.names:
                yield Import(node.lineno, f"{base}.{alias.name}")


def is_private(path: str) -> bool:
    """Return True where a part of the path begins with one underscore."""
    return any(part.startswith("_") and not part.startswith("__") for part in path.split("."))


def edge_problem(package: str, path: str) -> str | None:
    """Return what is wrong with one import of ours into a package, None if nothing."""
    target = package_of(path)
    if target == package:
        return None
    if package not in FRONT_ENDS and package not in MAY_IMPORT:
        return f"package '{package}' is not in the table of who may import whom"
    if package not in FRONT_ENDS and target not in MAY_IMPORT[package] | {"exceptions"}:
        return f"'{package}' may not import '{target}' ({path})"
    if is_private(path):
        return f"'{package}' imports a private name of '{target}' ({path})"
    return None


def foreign_problem(module: str, package: str, path: str) -> str | None:
    """Return what is wrong with one import of another project's module, None if nothing."""
    top = path.split(".", maxsplit=1)[0]
    if top == "sklearn" and is_private(path) and package not in MAY_IMPORT_PRIVATE_SKLEARN:
        return f"{module} imports a private name of scikit-learn ({path}); only base may"
    if package in FRONT_ENDS and top in ARITHMETIC:
        return f"{module} imports {top}; front ends do no arithmetic"
    return None


def problems_of(source: str, module: str, *, is_package: bool = False) -> list[str]:
    """Return everything that breaks a rule in the source of one module."""
    package = package_of(module)
    found = []
    if (count := len(source.splitlines())) > MAX_LINES:
        found.append(f"{count} lines; at most {MAX_LINES}")
    if banned := BANNED_NAMES & {part.strip("_") for part in module.split(".")}:
        found.append(f"a module may not be called {banned.pop()}")
    tree = ast.parse(source)
    found += [
        f"line {node.lineno}: assert is for tests; raise an error"
        for node in ast.walk(tree)
        if isinstance(node, ast.Assert)
    ]
    for entry in imports_of(tree, module, is_package):
        ours = entry.path == "coview" or entry.path.startswith("coview.")
        problem = edge_problem(package, entry.path) if ours else foreign_problem(module, package, entry.path)
        if problem:
            found.append(f"line {entry.line}: {problem}")
    return found


def module_name(path: Path) -> str:
    """Return the dotted name of a file of the source tree."""
    parts = ("coview", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=[module_name(path) for path in FILES])
def test_module_keeps_the_rules(path):
    """Imports follow the table, nothing private crosses packages, no assert, no overlong or catch-all module."""
    found = problems_of(path.read_text(encoding="utf-8"), module_name(path), is_package=path.name == "__init__.py")
    assert not found, "\n".join(found)


def test_the_walk_finds_the_tree():
    names = {module_name(path) for path in FILES}
    assert {"coview", "coview.exceptions", "coview.linalg", "coview.views", "coview.cli"} <= names


def test_every_package_stands_in_the_table():
    packages = {package_of(module_name(path)) for path in FILES}
    assert packages <= set(MAY_IMPORT) | FRONT_ENDS


def test_the_table_has_no_cycle():
    """What is below never imports what is above, however long the way round."""
    done, open_packages = set(), set(MAY_IMPORT)
    while ready := {package for package in open_packages if MAY_IMPORT[package] <= done}:
        done |= ready
        open_packages -= ready
    assert not open_packages


@pytest.mark.parametrize(
    ("module", "source", "message"),
    [
        ("coview.linalg._cholesky", "from coview.views import Views", "'linalg' may not import 'views'"),
        ("coview.linalg._cholesky", "import coview.kernels", "'linalg' may not import 'kernels'"),
        ("coview.linalg._cholesky", "import coview", "'linalg' may not import '__init__'"),
        ("coview.linalg._cholesky", "from coview import Views", "'linalg' may not import 'Views'"),
        ("coview.linalg._cholesky", "from ..views import Views", "'linalg' may not import 'views'"),
        ("coview.linalg._cholesky", "from .. import views", "'linalg' may not import 'views'"),
        ("coview.linalg._cholesky", "def f():\n    from coview.views import Views", "line 2: 'linalg' may not"),
        (
            "coview.kernels._per_view",
            "from coview.linalg._cholesky import Factor",
            "imports a private name of 'linalg'",
        ),
        ("coview.kernels._per_view", "from coview.linalg import _cholesky", "imports a private name of 'linalg'"),
        ("coview.svm._svm_2k", "from coview.mixture import CoEMMixture", "'svm' may not import 'mixture'"),
        ("coview.cli._fit", "from coview.views._readers import read_tables", "imports a private name of 'views'"),
        ("coview.novelty._new", "from coview.views import Views", "is not in the table"),
        ("coview.cli._fit", "import scipy.linalg", "front ends do no arithmetic"),
        ("coview.svm._svm_2k", "from sklearn.utils._param_validation import Interval", "private name of scikit-learn"),
        ("coview.linalg._cholesky", "def f(x):\n    assert x", "line 2: assert is for tests"),
        ("coview.linalg._cholesky", "\n" * (MAX_LINES + 1), f"{MAX_LINES + 1} lines"),
        ("coview.linalg._utils", "", "may not be called utils"),
        ("coview.linalg.common._arrays", "", "may not be called common"),
    ],
)
def test_the_checker_catches(module, source, message):
    found = problems_of(source, module)
    assert len(found) == 1
    assert message in found[0]


@pytest.mark.parametrize(
    ("module", "is_package", "source"),
    [
        ("coview.linalg", True, "from ._cholesky import Factor"),
        ("coview.linalg", True, "from coview.linalg._cholesky import Factor"),
        ("coview.linalg._cholesky", False, "from coview.exceptions import NotPositiveDefiniteError"),
        ("coview.linalg._eigen", False, "from ._cholesky import Factor\nfrom numpy.linalg import LinAlgError"),
        ("coview.impute._conditional_mean", False, "from coview.mixture import IncompleteGaussianMixture"),
        ("coview.base", False, "from sklearn.utils._param_validation import Interval"),
        ("coview.cli._program", False, "import coview\nfrom coview.report.demo import run_demo"),
        ("coview.cli._program", False, "from __future__ import annotations"),
        ("coview.linalg._cholesky", False, "\n" * MAX_LINES),
    ],
)
def test_the_checker_allows(module, is_package, source):
    assert problems_of(source, module, is_package=is_package) == []
