"""Read the golden files: inputs as views, Gram matrices and kernels; expected values as arrays; one tolerance rule.

The JSON files beside this module hold values computed by brute force with 50 digits (mixture quantities: converged
quadrature), by programs that share no code with coview. They are kept unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct

from coview import Views

GOLDEN = Path(__file__).parent
ERROR = "error"


def as_kernel(spec: Mapping[str, Any]):
    """The scikit-learn kernel that a golden file describes."""
    if spec["type"] == "linear":
        return ConstantKernel(spec["amplitude"]) * DotProduct(0, "fixed")
    return ConstantKernel(spec["amplitude"]) * RBF(spec["rho"])


def as_number(value: Any) -> Any:
    """The text "inf" as a number, also inside a list."""
    if isinstance(value, list):
        return [as_number(item) for item in value]
    return np.inf if value == "inf" else value


def as_setting(setting: Mapping[str, Any]) -> dict[str, Any]:
    """One entry of ``settings=``: kernels as objects, "inf" as a number."""
    values = {key: as_number(value) for key, value in setting.items() if key != "kernels"}
    if "kernels" in setting:
        values["kernels"] = [as_kernel(spec) for spec in setting["kernels"]]
    return values


@dataclass(frozen=True, eq=False)
class Case:
    """One case of a golden file."""

    name: str
    inputs: dict[str, Any]
    expected: dict[str, Any]
    tolerance: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def presence(self) -> np.ndarray:
        """(n_samples, n_views), True where the sample has the view."""
        return np.array(self.inputs["observed"], dtype=bool)

    @cached_property
    def widths(self) -> list[int]:
        """Number of features of each view."""
        rows = [[x for x in view if x is not None] for view in self.inputs["X"]]
        rows = [present + [sample[j] for sample in self.new_samples if sample[j]] for j, present in enumerate(rows)]
        return [len(present[0]) if present else 1 for present in rows]

    @property
    def new_samples(self) -> list[list[list[float] | None]]:
        """Features per new sample and view."""
        return self.inputs.get("new_samples", [])

    @cached_property
    def names(self) -> list[str]:
        """Names of the views."""
        return [f"view_{j}" for j in range(len(self.widths))]

    def _block(self, rows: list[list[float] | None], j: int) -> np.ndarray:
        return np.array([[np.nan] * self.widths[j] if x is None else x for x in rows], dtype=float)

    @cached_property
    def blocks(self) -> list[np.ndarray]:
        """One (n_samples, n_features) array per view, missing rows NaN."""
        return [self._block(view, j) for j, view in enumerate(self.inputs["X"])]

    @cached_property
    def new_blocks(self) -> list[np.ndarray]:
        """The same for the new samples."""
        return [self._block([sample[j] for sample in self.new_samples], j) for j in range(len(self.widths))]

    @cached_property
    def new_presence(self) -> np.ndarray:
        """(n_new, n_views), True where the new sample has the view."""
        return np.array([[x is not None for x in sample] for sample in self.new_samples])

    @cached_property
    def views(self) -> Views:
        """The training samples."""
        return Views(self.blocks, names=self.names, presence=self.presence)

    @cached_property
    def new_views(self) -> Views:
        """The new samples."""
        return Views(self.new_blocks, names=self.names, presence=self.new_presence)

    @cached_property
    def views_with_new(self) -> Views:
        """Training samples, then new samples."""
        blocks = [np.vstack(pair) for pair in zip(self.blocks, self.new_blocks, strict=True)]
        return Views(blocks, names=self.names, presence=np.vstack([self.presence, self.new_presence]))

    @cached_property
    def y(self) -> np.ndarray:
        """Targets as float, NaN where unlabeled."""
        return np.array([np.nan if value is None else value for value in self.inputs["y"]], dtype=float)

    def kernels(self) -> list[Any]:
        """One fresh kernel per view."""
        return [as_kernel(spec) for spec in self.inputs["kernels"]]

    @cached_property
    def grams(self) -> list[np.ndarray]:
        """One Gram matrix per view over the samples that have it."""
        columns = zip(self.kernels(), self.blocks, self.presence.T, strict=True)
        return [kernel(block[present]) for kernel, block, present in columns]

    @property
    def view_variances(self) -> Any:
        """Variances of the views, infinite where the file says so."""
        return as_number(self.inputs["view_variances"])

    @cached_property
    def theta(self) -> tuple[list[str], np.ndarray]:
        """Names and log values of the free parameters, in the order of ``theta``."""
        pairs: list[tuple[str, float]] = []
        for j, spec in enumerate(self.inputs["kernels"]):
            pairs.append((f"log_amplitude[{j}]", spec["amplitude"]))
            if spec["type"] == "rbf":
                pairs.append((f"log_rho[{j}]", spec["rho"]))
        pairs += [(f"log_view_variance[{j}]", value) for j, value in enumerate(self.view_variances)]
        if "noise_variance" in self.inputs:
            pairs.append(("log_noise_variance", self.inputs["noise_variance"]))
        names, values = zip(*pairs, strict=True)
        return list(names), np.log(values)

    def expected_at(self, key: str) -> Any:
        """The expected value at a path such as "gradient/log_rho[0]" or "trust[]/share"."""
        return dict(flatten(self.expected))[key]

    def check(self, key: str, got: Any, want: Any = None) -> None:
        """Fail unless ``got`` is what the file expects at ``key`` (or what was taken from it, ``want``)."""
        want = self.expected_at(key) if want is None else want
        rule = self.tolerance.get("fields", {}).get(key, self.tolerance)
        compare(got, want, rtol=rule["rtol"], atol=rule["atol"], what=f"{self.name}: {key}")


def flatten(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Pairs (path, value) of a nested dict; a list of dicts becomes one list per key, at "name[]/key"."""
    for key, item in value.items():
        path = f"{prefix}{key}"
        if isinstance(item, dict):
            yield from flatten(item, f"{path}/")
        elif isinstance(item, list) and item and isinstance(item[0], dict):
            names = dict.fromkeys(name for entry in item for name in entry)
            yield from ((f"{path}[]/{name}", [entry[name] for entry in item if name in entry]) for name in names)
        else:
            yield path, item


def as_array(value: Any) -> np.ndarray:
    """A nested list as floats; null, also in place of a whole row, becomes NaN."""
    if isinstance(value, (list, tuple)):
        rows = [as_array(item) for item in value]
        shape = max((row.shape for row in rows), key=len, default=())
        return np.array([np.full(shape, np.nan) if row.shape == () and np.isnan(row) else row for row in rows])
    return np.asarray(np.nan if value is None else value, dtype=float)


def is_ragged(value: Any) -> bool:
    """True for a list whose entries cannot be stacked."""
    if not isinstance(value, list):
        return False
    try:
        as_array(value)
    except ValueError:
        return True
    return False


def compare(got: Any, want: Any, *, rtol: float, atol: float, what: str) -> None:
    """The rule of the golden files: max|got - want| <= atol + rtol * max|want|, over each array."""
    if is_ragged(want):
        assert len(got) == len(want), f"{what}: {len(got)} entries, expected {len(want)}"
        for i, pair in enumerate(zip(got, want, strict=True)):
            compare(*pair, rtol=rtol, atol=atol, what=f"{what}[{i}]")
        return
    got, want = as_array(got) if isinstance(got, (list, tuple)) else np.asarray(got, dtype=float), as_array(want)
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    missing = np.isnan(want)
    assert np.array_equal(np.isnan(got), missing), f"{what}: NaN in other places than expected"
    error = np.abs(got - want)[~missing].max(initial=0.0)
    allowed = atol + rtol * np.abs(want)[~missing].max(initial=0.0)
    assert error <= allowed, f"{what}: error {error:.3g} > {allowed:.3g}"


@lru_cache
def cases(topic: str) -> tuple[Case, ...]:
    """All cases of ``tests/golden/<topic>.json``, those that must raise included."""
    document = json.loads((GOLDEN / f"{topic}.json").read_text(encoding="utf-8"))
    return tuple(Case(case["name"], case["inputs"], case["expected"], case["tolerance"]) for case in document["cases"])


def case_params(topic: str, *, errors: bool = False) -> list[Any]:
    """The cases with values (or those that must raise), as parameters named by the case."""
    return [pytest.param(case, id=case.name) for case in cases(topic) if (ERROR in case.expected) == errors]


def value_params(topic: str, information: frozenset[str]) -> list[Any]:
    """Every (case, key) of a file but the keys listed as information: nothing is left out silently."""
    return [
        pytest.param(case, key, id=f"{case.name}-{key}")
        for case in cases(topic)
        for key in dict(flatten(case.expected))
        if key != ERROR and not is_listed(key, information)
    ]


def is_listed(key: str, patterns: frozenset[str]) -> bool:
    """True if the key, or a part of its path with everything below it, is listed."""
    parts = key.split("/")
    return any("/".join(parts[: i + 1]) in patterns for i in range(len(parts)))


def check_value(case: Case, key: str, checks: Mapping[str, Callable[..., Any]]) -> None:
    """Check one value; a checker registered for the first part of a path gets the rest as a second argument."""
    name, _, rest = key.partition("/")
    got = checks[key](case) if key in checks else checks[name](case, rest)
    case.check(key, got)
