"""The golden files are used completely, and the rule that compares them can fail."""

import json

import numpy as np
import pytest

from .loader import ERROR, GOLDEN, Case, as_array, cases, compare, flatten, is_ragged, value_params

TESTED = {
    path.stem.removeprefix("test_golden_"): path.parent.name for path in GOLDEN.parent.glob("*/test_golden_gp_*.py")
}
TOPICS = sorted(path.stem for path in GOLDEN.glob("gp_*.json"))


def test_every_golden_file_has_a_test_module():
    assert len(TOPICS) == 13
    assert set(TOPICS) == set(TESTED)


@pytest.mark.parametrize("topic", TOPICS)
def test_files_are_as_delivered(topic):
    document = json.loads((GOLDEN / f"{topic}.json").read_text(encoding="utf-8"))
    assert set(document) == {"format", "topic", "definitions", "cases"}
    assert len({case.name for case in cases(topic)}) == len(document["cases"])


@pytest.mark.parametrize("topic", TOPICS)
def test_every_expected_key_is_checked_or_information(topic):
    """A key is checked if the module's table has a checker for it; everything else must be listed as information."""
    namespace = module_namespace(topic)
    checks = set(namespace["CHECKS"]) if "CHECKS" in namespace else set(namespace["checks"]("exact"))
    checks |= {namespace["SPECTRUM"]} if "SPECTRUM" in namespace else set()
    keys = {key for case in cases(topic) for key in dict(flatten(case.expected))} - {ERROR}
    information = namespace["INFORMATION"]
    listed = {key for key in keys if any(key == item or key.startswith(f"{item}/") for item in information)}
    checked = {key for key in keys - listed if key in checks or key.partition("/")[0] in checks}
    assert keys - listed - checked == set()
    assert {item for item in information if not any(f"{key}/".startswith(f"{item}/") for key in keys)} == set()


def module_namespace(topic):
    """The tables of a test module, read by running it as a plain module."""
    import importlib

    return vars(importlib.import_module(f"..{TESTED[topic]}.test_golden_{topic}", __package__))


def test_value_params_leave_nothing_out():
    total = sum(len(dict(flatten(case.expected))) for case in cases("gp_regression"))
    assert len(value_params("gp_regression", frozenset())) == total
    fewer = value_params("gp_regression", frozenset({"gradient"}))
    n_gradients = sum(len(case.expected["gradient"]) for case in cases("gp_regression"))
    assert len(fewer) == total - n_gradients > 0


def test_flatten_joins_lists_of_dicts():
    nested = {"a": {"b": 1, "c": {"d": 2}}, "e": [{"f": 3}, {"f": 4, "g": 5}]}
    assert dict(flatten(nested)) == {"a/b": 1, "a/c/d": 2, "e[]/f": [3, 4], "e[]/g": [5]}


def test_null_rows_become_nan_rows():
    got = as_array([[1, 2], None, [3, None]])
    np.testing.assert_array_equal(got, [[1, 2], [np.nan, np.nan], [3, np.nan]])
    assert is_ragged([[1, 2], [3]])
    assert not is_ragged([[1, 2], None])


RULE = {"rtol": 1e-2, "atol": 1e-3, "what": "x"}


class TestCompare:
    def test_accepts_the_stated_error(self):
        compare([1.0, 10.10], [1.0, 10.0], **RULE)

    def test_refuses_a_larger_error(self):
        with pytest.raises(AssertionError, match="error"):
            compare([1.0, 10.2], [1.0, 10.0], **RULE)

    def test_refuses_another_shape(self):
        with pytest.raises(AssertionError, match="shape"):
            compare([[1.0]], [1.0], **RULE)

    def test_refuses_nan_in_other_places(self):
        with pytest.raises(AssertionError, match="NaN"):
            compare([1.0, np.nan], [1.0, 2.0], **RULE)
        with pytest.raises(AssertionError, match="NaN"):
            compare([1.0, 2.0], [1.0, None], **RULE)

    def test_ragged_lists_are_compared_entry_by_entry(self):
        want = [[1.0, 2.0], [3.0]]
        compare([np.array([1.0, 2.0]), [3.0]], want, **RULE)
        with pytest.raises(AssertionError, match=r"x\[1\]"):
            compare([np.array([1.0, 2.0]), [4.0]], want, **RULE)
        with pytest.raises(AssertionError, match="entries"):
            compare([[1.0, 2.0]], want, **RULE)

    def test_tolerance_of_a_field_overrides_the_general_one(self):
        tolerance = {"rtol": 0, "atol": 1e-9, "fields": {"loose": {"rtol": 0, "atol": 1.0}}}
        case = Case("name", {}, {"loose": 1.0, "tight": 1.0}, tolerance)
        case.check("loose", 1.5)
        with pytest.raises(AssertionError, match="name: tight"):
            case.check("tight", 1.5)
