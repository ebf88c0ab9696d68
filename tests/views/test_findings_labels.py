"""Findings about labels, and about columns and gaps that tell them."""

import numpy as np
import pandas as pd
import pytest

from coview.views import find_problems, read_tables


def ids(count):
    return pd.Index([f"p{number}" for number in range(count)])


def noise(n_samples=60, n_columns=20, seed=0):
    cells = np.random.default_rng(seed).normal(size=(n_samples, n_columns))
    return pd.DataFrame(cells, index=ids(n_samples)).add_prefix("g")


def classes(n_samples=60, seed=1, names=("no", "yes")):
    return pd.Series(np.random.default_rng(seed).choice(names, n_samples).astype(object), index=ids(n_samples))


def problems(views, labels):
    if not isinstance(views, dict):
        views = {"v": views}
    return find_problems(read_tables(views, check_ids=False), labels)


def only(views, labels):
    (finding,) = problems(views, labels)
    return finding


def series(*groups):
    """Labels from (name, count) pairs, in mixed order."""
    labels = np.concatenate([np.full(count, name, dtype=object) for name, count in groups])
    np.random.default_rng(0).shuffle(labels)
    return pd.Series(labels, index=ids(len(labels)))


@pytest.mark.parametrize(
    ("labels", "code", "level"),
    [
        (series((np.nan, 60)), "no_labels", "error"),
        (series(("a", 50), (np.nan, 10)), "one_class", "error"),
        (series(("a", 40), ("b", 17), ("c", 3)), "rare_class", "warning"),
        (series(("a", 58), ("b", 1), (np.nan, 1)), "rare_class", "warning"),
        (series(("a", 196), ("b", 4)), "unbalanced_classes", "note"),
        (series(*((name, 4) for name in "abcdefghijklmno")), "few_labels", "warning"),
        (pd.Series(np.full(60, 2.5), index=ids(60)), "constant_labels", "error"),
        (pd.Series([1.0, 2, 3, 4, 5, *[np.nan] * 55], index=ids(60)), "few_labels", "warning"),
        (pd.Series([*np.linspace(0, 1, 59), 40.0], index=ids(60)), "outlying_targets", "note"),
    ],
)
def test_labels_alone(labels, code, level):
    finding = only(noise(len(labels)), labels)
    assert (finding.code, finding.level, finding.view) == (code, level, None)


def test_rare_classes_are_named_with_counts():
    assert "'c' (3)" in only(noise(), series(("a", 40), ("b", 17), ("c", 3))).message


def test_labels_are_matched_by_id():
    labels = classes()
    frame = noise()
    frame["leak"] = (labels == "yes").astype(float)
    assert only(frame, labels[::-1]).code == "label_in_column"
    part = labels[10:50][::-1]
    assert only(frame, part).columns == ("leak",)


@pytest.mark.parametrize(
    ("leak", "code"),
    [
        (lambda y, rng: np.where(y == "yes", 1.0, 0.0), "label_in_column"),
        (lambda y, rng: np.where(y == "yes", "dead", "alive"), "label_in_column"),
        (lambda y, rng: np.where(y == "yes", rng.uniform(5, 9, len(y)), rng.uniform(0, 4, len(y))), "label_leakage"),
        (
            lambda y, rng: np.where(y == "yes", rng.choice(["a", "b"], len(y)), rng.choice(["c", "d"], len(y))),
            "label_leakage",
        ),
        (lambda y, rng: np.where(y == "yes", rng.choice([1, 3], len(y)), rng.choice([2, 4], len(y))), "label_leakage"),
    ],
)
@pytest.mark.parametrize("n_samples", [60, 300])
def test_a_column_that_tells_the_label(leak, code, n_samples):
    labels = classes(n_samples)
    frame = noise(n_samples)
    frame["leak"] = leak(labels.to_numpy(), np.random.default_rng(4))
    finding = next(finding for finding in problems(frame, labels) if finding.level == "warning")
    assert (finding.code, finding.columns, finding.view) == (code, ("leak",), "v")


def test_the_values_of_each_class_are_told():
    labels = series(("no", 30), ("yes", 30))
    frame = noise()
    frame["leak"] = np.where(labels == "yes", np.linspace(5, 9, 60), np.linspace(0, 4, 60))
    own = frame["leak"].groupby(labels).agg(["min", "max"]).loc["yes"]
    assert f"'yes' {own['min']:.6g} to {own['max']:.6g}" in only(frame, labels).message


def test_three_classes_in_intervals():
    labels = classes(names=("a", "b", "c"))
    frame = noise()
    frame["leak"] = labels.map({"a": 5.0, "b": 0.0, "c": -5.0}) + np.random.default_rng(0).uniform(-1, 1, 60)
    assert (only(frame, labels).code, only(frame, labels).columns) == ("label_leakage", ("leak",))
    frame["leak"] = labels.map({"a": 0.0, "b": 1.0, "c": 0.5}) + np.random.default_rng(0).uniform(-1, 1, 60)
    assert problems(frame, labels) == []


@pytest.mark.parametrize(("n_stray", "is_found"), [(0, True), (4, True), (12, False)])
def test_few_strays_do_not_hide_a_leak(n_stray, is_found):
    """Two of a hundred of each class may stand on the wrong side."""
    labels = pd.Series(np.repeat(["no", "yes"], 200).astype(object), index=ids(400))
    rng = np.random.default_rng(0)
    order = rng.permutation(400)
    labels = labels.iloc[order].set_axis(ids(400))
    cells = np.where(labels == "yes", 3.0, -3.0) + rng.uniform(-1, 1, 400)
    wrong = [*np.flatnonzero(labels == "yes")[: n_stray // 2], *np.flatnonzero(labels == "no")[: n_stray // 2]]
    cells[wrong] *= -1
    frame = noise(400)
    frame["leak"] = cells
    assert [finding.columns for finding in problems(frame, labels)] == [("leak",)] * is_found


def test_a_separation_that_chance_would_give_is_not_named():
    """Among 5 + 5 samples, one column in 126 separates; among 20 columns nobody wonders at 20 + 20."""
    for n_samples, n_columns, is_found in [(10, 20, False), (10, 2, False), (40, 20, True)]:
        labels = pd.Series(np.repeat(["no", "yes"], n_samples // 2).astype(object), index=ids(n_samples))
        frame = noise(n_samples, n_columns)
        frame["leak"] = np.where(labels == "yes", 1, -1) * np.random.default_rng(0).uniform(1, 2, n_samples)
        named = [finding.code for finding in problems(frame, labels)]
        assert ("label_leakage" in named) is is_found, (n_samples, n_columns)


def test_a_strong_but_honest_feature_is_left_alone():
    """An AUC of 0.98 is no leak."""
    labels = classes(400)
    frame = noise(400)
    frame["strong"] = np.where(labels == "yes", 1.5, -1.5) + np.random.default_rng(0).normal(size=400)
    assert problems(frame, labels) == []


def test_an_identifier_separates_nothing():
    labels = series(("no", 30), ("yes", 30)).sort_values().set_axis(ids(60))
    frame = noise()
    frame["barcode"] = [f"TCGA-{number:04d}" for number in range(60)]
    assert only(frame, labels).code == "identifier_columns"


def test_row_numbers_of_a_file_sorted_by_class_leak():
    labels = pd.Series(np.repeat(["no", "yes"], 30).astype(object), index=ids(60))
    frame = noise()
    frame["number"] = np.arange(60)
    assert {finding.code for finding in problems(frame, labels)} == {"label_leakage", "identifier_columns"}


def test_target_up_to_scale():
    rng = np.random.default_rng(0)
    labels = pd.Series(rng.normal(size=60), index=ids(60))
    labels.iloc[40:] = np.nan
    frame = noise()
    frame["leak"] = (3 - 2e3 * labels).fillna(0.0)
    assert (only(frame, labels).code, only(frame, labels).columns) == ("label_in_column", ("leak",))
    frame["leak"] = labels.fillna(0.0) + 0.3 * rng.normal(size=60)
    assert problems(frame, labels) == []


@pytest.mark.parametrize("seed", range(5))
def test_wide_noise_is_no_target(seed):
    rng = np.random.default_rng(seed)
    labels = pd.Series(rng.normal(size=10), index=ids(10))
    assert problems(noise(10, 5_000, seed), labels) == []


def test_four_targets_correlate_with_much_noise():
    """Among 5,000 columns about ten reach a correlation of 0.999 with four targets; one of sixty samples does not."""
    labels = pd.Series([1.0, 2.0, 5.0, 3.0], index=ids(4))
    assert [finding.code for finding in problems(noise(4, 5_000), labels)] == ["few_labels"]


def test_view_present_in_one_class_only():
    labels = classes()
    treated = noise(seed=3).add_prefix("t")[(labels == "yes").to_numpy()]
    finding = only({"a": noise(), "b": treated}, labels)
    assert (finding.code, finding.level, finding.view) == ("label_in_presence", "warning", "b")
    n_yes = int((labels == "yes").sum())
    assert f"'yes' {n_yes} of {n_yes}" in finding.message
    assert f"'no' 0 of {60 - n_yes}" in finding.message


def test_view_that_goes_with_the_class():
    labels = classes(200)
    rng = np.random.default_rng(0)
    has = rng.random(200) < np.where(labels == "yes", 0.8, 0.3)
    finding = only({"a": noise(200), "b": noise(200, seed=3).add_prefix("t")[has]}, labels)
    assert (finding.code, finding.level, finding.view) == ("presence_by_class", "note", "b")
    few = series(("no", 6), ("yes", 6))  # 4 of 6 and 2 of 6 may be chance
    has = (few.groupby(few).cumcount() < few.map({"no": 2, "yes": 4})).to_numpy()
    assert problems({"a": noise(12), "b": noise(12, seed=3).add_prefix("t")[has]}, few) == []
    has = rng.random(200) < 0.5
    assert problems({"a": noise(200), "b": noise(200, seed=3).add_prefix("t")[has]}, labels) == []


def test_gaps_in_one_class_only():
    labels = classes()
    frame = noise()
    frame.loc[labels == "yes", "g3"] = np.nan
    found = [finding for finding in problems(frame, labels) if finding.level == "warning"]
    assert [(finding.code, finding.columns) for finding in found] == [("label_in_gaps", ("g3",))]
    frame = noise()
    frame.loc[labels.index[labels == "yes"][:3], "g3"] = np.nan  # three in one class may be chance
    assert [finding.code for finding in problems(frame, labels)] == ["partly_missing_rows"]


def test_sparse_entries_of_one_class_only():
    labels = classes()
    dense = np.random.default_rng(0).poisson(0.5, size=(60, 20)).astype(float)
    dense[:, 4] = (labels == "yes") * np.random.default_rng(1).integers(1, 4, 60)
    columns = {f"w{k}": pd.arrays.SparseArray(column, fill_value=0.0) for k, column in enumerate(dense.T)}
    frame = pd.DataFrame(columns, index=ids(60))
    found = [finding for finding in problems(frame, labels) if finding.level == "warning"]
    assert [(finding.code, finding.columns) for finding in found] == [("label_leakage", ("w4",))]


def test_unlabeled_samples_do_not_matter():
    labels = classes()
    frame = noise()
    frame["leak"] = (labels == "yes").astype(float)
    hidden = labels.copy()
    hidden.iloc[40:] = np.nan
    frame.loc[frame.index[40:], "leak"] = 1 - frame.loc[frame.index[40:], "leak"]
    assert only(frame, hidden).columns == ("leak",)
