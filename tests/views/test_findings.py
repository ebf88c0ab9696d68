"""``find_problems``: clean data give nothing, each planted problem its own code and no other."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from coview.views import find_problems, read_tables


def ids(count):
    return pd.Index([f"p{number}" for number in range(count)])


def clean(n_samples=60, seed=0, prefix="g"):
    """Five columns of normal numbers."""
    cells = np.random.default_rng(seed).normal(size=(n_samples, 5))
    return pd.DataFrame(cells, columns=[f"{prefix}{place}" for place in range(5)], index=ids(n_samples))


def classes(n_samples=60, seed=1, names=("no", "yes")):
    return pd.Series(np.random.default_rng(seed).choice(names, n_samples).astype(object), index=ids(n_samples))


def problems(views, labels=None):
    if not isinstance(views, dict):
        views = {"v": views}
    return find_problems(read_tables(views, check_ids=False), labels)


def codes(views, labels=None):
    return [finding.code for finding in problems(views, labels)]


def only(views, labels=None):
    """The single finding."""
    (finding,) = problems(views, labels)
    return finding


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("n_samples", "n_columns"), [(20, 2_000), (10, 5_000), (300, 100)])
def test_noise_gives_no_finding(seed, n_samples, n_columns):
    """Ten samples and thousands of columns hold many that separate the classes by chance; none is named."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n_samples, n_columns)), index=ids(n_samples))
    labels = pd.Series(np.repeat(["a", "b"], n_samples // 2).astype(object), index=ids(n_samples))
    assert problems(frame, labels) == []


@pytest.mark.parametrize("seed", range(4))
def test_noise_of_counts_words_and_gaps_gives_no_warning(seed):
    rng = np.random.default_rng(seed)
    n = 150
    counts = pd.DataFrame(rng.poisson(rng.gamma(2, 5, 40), size=(n, 40)), index=ids(n)).add_prefix("count")
    zero_inflated = rng.lognormal(3, 1.5, size=(n, 20)) * (rng.random((n, 20)) < 0.6)
    amounts = pd.DataFrame(zero_inflated, index=ids(n)).add_prefix("amount")
    gaps = pd.DataFrame(np.where(rng.random((n, 20)) < 0.1, np.nan, rng.normal(size=(n, 20))), index=ids(n))
    words = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "site": rng.choice(list("abcd"), n)}, index=ids(n))
    found = problems({"counts": counts, "amounts": amounts, "gaps": gaps, "words": words}, classes(n, seed))
    assert {finding.code for finding in found} <= {"partly_missing_rows", "integer_codes"}
    assert {finding.level for finding in found} == {"note"}


# --- presence -------------------------------------------------------------------------------------------------------


def test_sample_without_any_view():
    frame = clean()
    frame.loc["p7"] = np.nan
    finding = only(frame)
    assert (finding.code, finding.level, finding.ids, finding.count) == ("samples_without_view", "warning", ("p7",), 1)


def test_view_that_shares_no_sample():
    alone = clean(seed=3, prefix="h").rename(index=lambda label: f"other-{label}")
    found = problems({"a": clean(), "b": clean(seed=2, prefix="b"), "c": alone})
    assert [(finding.code, finding.level, finding.view) for finding in found] == [("no_overlap", "error", "c")]
    assert "'other-p0'" in found[0].message
    assert "'p0'" in found[0].message


def test_pair_of_views_that_meet_in_a_third_only():
    first, second = clean(seed=2, prefix="b").iloc[:30], clean(seed=3, prefix="c").iloc[30:]
    finding = only({"a": clean(), "b": first, "c": second})
    assert (finding.code, finding.level, finding.count) == ("pairs_without_overlap", "note", 1)
    assert "'b' and 'c'" in finding.message


def test_view_that_nobody_has():
    empty = pd.DataFrame({"x": [np.nan] * 60}, index=ids(60))
    assert [(f.code, f.view) for f in problems({"a": clean(), "b": empty})] == [("empty_view", "b")]


def test_partly_missing_rows_are_a_note_and_many_a_warning():
    frame = clean()
    frame.loc["p3", "g0"] = np.nan
    finding = only(frame)
    assert (finding.code, finding.level, finding.ids, finding.count) == ("partly_missing_rows", "note", ("p3",), 1)
    frame.iloc[:40, :3] = np.nan
    found = problems(frame)
    assert [(f.code, f.level) for f in found] == [("partly_missing_rows", "warning"), ("mostly_missing", "note")]
    assert found[1].columns == ("g0", "g1", "g2")


def test_almost_equal_ids():
    frame = clean().rename(index={"p1": "P0"})
    finding = only(frame)
    assert (finding.code, finding.level, finding.ids) == ("almost_equal_ids", "warning", ("p0", "P0"))


# --- columns --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "code", "level"),
    [
        (np.full(60, np.nan), "all_missing", "warning"),
        (np.full(60, 3.5), "constant_columns", "note"),
        (["mg"] * 60, "constant_columns", "note"),
        ([1.0] * 59 + [2.0], "nearly_constant", "note"),
        (np.arange(60), "identifier_columns", "warning"),
        ([f"sample {number}-{number % 7}"[7:] for number in range(60)], "identifier_columns", "warning"),
        ([1, 2, 3] * 20, "integer_codes", "note"),
        (["low", "Low ", "high"] * 20, "spelling_variants", "warning"),
        (["<0.1", *map(str, np.linspace(0.5, 3, 59).round(3))], "almost_numeric", "warning"),
        ([f"2021-{1 + number % 12:02d}-{1 + number % 28:02d}" for number in range(60)], "dates", "warning"),
        ([f"{1 + number % 28}.{1 + number % 12}.2021" for number in range(60)], "dates", "warning"),
        (pd.date_range("2021-01-01", periods=60), "unusable_columns", "error"),
        ([complex(1, number) for number in range(60)], "unusable_columns", "error"),
    ],
)
def test_planted_column_is_named_alone(cells, code, level):
    frame = clean()
    frame["planted"] = cells
    finding = only(frame)
    assert (finding.code, finding.level, finding.columns) == (code, level, ("planted",))
    assert "'planted'" in finding.message
    assert "'v'" in finding.message


def test_infinite_values():
    frame = clean()
    frame.loc[["p1", "p2"], "g3"] = [np.inf, -np.inf]
    finding = only(frame)
    assert (finding.code, finding.level, finding.columns, finding.count) == ("infinite_values", "error", ("g3",), 2)


def test_scales_far_apart():
    frame = clean()
    frame["cells"] = frame["g0"][::-1].to_numpy() * 1e9
    assert [(f.code, f.level) for f in problems(frame)] == [("different_scales", "note")]


def test_text_to_be_read_is_no_identifier():
    frame = clean()
    frame["note"] = [f"patient came on day {number} feeling well" for number in range(60)]
    assert problems(frame) == []


def test_ranks_are_no_row_numbers():
    frame = clean()
    frame["rank"] = frame["g0"].rank()
    assert problems(frame) == []


def test_constant_with_gaps_says_so():
    frame = clean()
    frame["planted"] = [1.0] * 50 + [np.nan] * 10
    assert codes(frame) == ["partly_missing_rows", "constant_where_observed"]


# --- missing values in disguise -------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [-999.0, 9999.0, 99999.0, -2147483648.0, -9999.0, 1e30])
@pytest.mark.parametrize("count", [1, 5])
def test_code_outside_the_range(value, count):
    frame = clean(n_samples=200)
    frame.loc[frame.index[:count], "g2"] = value
    finding = only(frame)
    assert (finding.code, finding.columns, finding.count) == ("disguised_missing", ("g2",), count)
    assert finding.message.startswith(f"{value:.15g} may stand for 'missing'")


@pytest.mark.parametrize(
    ("typical", "code"),
    [
        (lambda rng: rng.normal(120, 30, 200).clip(40).round(), 0),  # glucose
        (lambda rng: rng.normal(32, 7, 200).clip(18), 0),  # body mass index
        (lambda rng: rng.integers(20, 80, 200), -1),  # age
        (lambda rng: rng.integers(20, 80, 200), 999),
        (lambda rng: rng.integers(0, 2, 200), -9),
        (lambda rng: rng.integers(1, 6, 200), 99),
        (lambda rng: rng.integers(1, 6, 200), -99),
    ],
)
def test_code_among_measured_values(typical, code):
    frame = clean(n_samples=200)
    frame["planted"] = np.asarray(typical(np.random.default_rng(5)), dtype=float)
    frame.loc[frame.index[::20], "planted"] = code
    found = [finding for finding in problems(frame) if finding.code != "integer_codes"]
    assert [(finding.code, finding.columns, finding.count) for finding in found] == [
        ("disguised_missing", ("planted",), 10)
    ]


def test_zeros_of_a_wide_table_are_a_note():
    """Logarithms of counts per million: zero is apart from what a single count gives."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.gamma(2, 3, 200), size=(100, 200)) * 1.0
    cells = np.log2(1 + counts / rng.uniform(0.5, 1, (100, 1)) * 3)
    found = [finding for finding in problems(pd.DataFrame(cells, index=ids(100))) if finding.code != "nearly_constant"]
    assert [(finding.code, finding.level) for finding in found] == [("disguised_missing", "note")]
    found = problems(pd.DataFrame(cells[:, :50], index=ids(100)))
    assert ("disguised_missing", "warning") in [(finding.code, finding.level) for finding in found]


@pytest.mark.parametrize(
    "cells",
    [
        lambda rng: rng.poisson(3, 300),
        lambda rng: rng.poisson(30, 300) * (rng.random(300) < 0.5) // 10,
        lambda rng: rng.integers(-1, 2, 300),
        lambda rng: rng.integers(0, 100, 300),
        lambda rng: rng.exponential(1, 300) * (rng.random(300) < 0.7),
        lambda rng: rng.normal(size=300).clip(0),
        lambda rng: rng.integers(0, 10, 300),
        lambda rng: rng.uniform(0, 1, 300).round(2),
        lambda rng: rng.choice([0.0, 5.0], 300),
        lambda rng: np.where(rng.random(300) < 0.1, 0, 4 + rng.integers(0, 12, 300)),
        lambda rng: rng.lognormal(3, 1.2, 300) * (rng.random(300) < 0.8),
        lambda rng: np.log2(1 + rng.negative_binomial(2, 0.1, 300)),
        lambda rng: np.log(1 + rng.poisson(6, 300)),
    ],
)
def test_true_zeros_and_nines_are_left_alone(cells):
    for seed in range(20):
        frame = pd.DataFrame({"x": cells(np.random.default_rng(seed))}, index=ids(300))
        assert "disguised_missing" not in codes(frame)


# --- columns and rows that repeat -----------------------------------------------------------------------------------


def test_duplicated_columns_of_numbers_and_words():
    frame = clean()
    frame["copy"] = frame["g1"]
    frame["site"] = np.random.default_rng(2).choice(["a", "b", "c"], 60)
    frame["place"] = frame["site"].astype("category")
    finding = only(frame)
    assert (finding.code, finding.columns, finding.count) == ("duplicated_columns", ("copy", "place"), 2)
    assert "'g1' = 'copy'" in finding.message


def test_columns_with_the_same_partition_but_other_words_differ():
    frame = clean()
    frame["site"] = np.random.default_rng(2).choice(["a", "b", "c"], 60)
    frame["place"] = frame["site"].str.upper()
    assert problems(frame) == []


def test_gaps_at_the_same_places_are_not_equality():
    frame = clean()
    frame["a"] = frame["g0"].where(frame["g0"] > -0.5)
    frame["b"] = frame["g1"].where(frame["g0"] > -0.5)
    assert "duplicated_columns" not in codes(frame)


def test_column_in_two_views_in_another_order_of_samples():
    other = clean(seed=4, prefix="h")
    other["years"] = clean()["g0"]
    found = problems({"a": clean(), "b": other[::-1]})
    assert [(f.code, f.level) for f in found] == [("columns_repeated_across_views", "warning")]
    assert found[0].columns == ("g0", "years")


def test_column_of_one_name_in_views_of_different_samples():
    """Equal wherever both views are observed; with slips, the samples are named."""
    other = clean(seed=4, prefix="h").iloc[:40]
    other["G0"] = clean()["g0"]
    finding = only({"a": clean(), "b": other})
    assert (finding.code, finding.columns) == ("columns_repeated_across_views", ("g0", "G0"))
    other.loc[["p3", "p5"], "G0"] += 1
    finding = only({"a": clean(), "b": other})
    assert (finding.code, finding.level, finding.ids) == ("conflicting_columns", "warning", ("p3", "p5"))
    other["G0"] = clean()["g0"].where(clean()["g0"] > -1)  # a gap beside a value is no conflict
    assert codes({"a": clean(), "b": other}) == ["columns_repeated_across_views", "partly_missing_rows"]
    other["G0"] = np.random.default_rng(9).normal(size=40)
    assert problems({"a": clean(), "b": other}) == []


def test_wide_rows_of_zeros():
    frame = pd.concat([clean(), clean(seed=6, prefix="h")], axis=1)
    frame.loc[["p3", "p8"]] = 0.0
    finding = only(frame)
    assert (finding.code, finding.level, finding.ids) == ("zero_rows", "warning", ("p3", "p8"))


def test_neighboring_pixels_repeat_by_chance():
    """Nine columns that follow each other hold less than they seem to."""
    rng = np.random.default_rng(0)
    base = rng.integers(40, 100, 3_000)
    pixels = pd.DataFrame({f"p{place}": base + rng.integers(0, 3, 3_000) for place in range(9)}, index=ids(3_000))
    assert problems(pixels) == []


def test_duplicated_rows_and_labels_at_odds():
    frame = clean()
    frame.loc["p5"] = frame.loc["p9"]
    finding = only(frame)
    assert (finding.code, finding.level, finding.ids) == ("duplicated_rows", "note", ("p5", "p9"))
    labels = classes()
    labels["p5"], labels["p9"] = "no", "yes"
    found = problems(frame, labels)
    assert [(f.code, f.level) for f in found] == [("duplicated_rows", "warning")]


def test_equal_rows_of_few_categories_are_no_wonder():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], 60), "stage": rng.choice(["I", "II"], 60)}, index=ids(60))
    assert problems(frame) == []


# --- containers -----------------------------------------------------------------------------------------------------


def test_sparse_view_is_looked_at_without_making_it_dense():
    rng = np.random.default_rng(0)
    dense = rng.poisson(0.3, size=(80, 30)) * rng.normal(size=(80, 30))
    dense[:, 4] = 0
    dense[:, 7] = dense[:, 6]
    dense[11] = 0
    dense[2, 3] = np.inf
    found = problems(sparse.csr_array(dense))
    assert [(finding.code, finding.columns) for finding in found] == [
        ("infinite_values", ("x3",)),
        ("zero_rows", ()),
        ("constant_columns", ("x4",)),
        ("duplicated_columns", ("x7",)),
    ]
    assert found[1].ids == ("11",)


def test_a_huge_sparse_view_takes_little_memory():
    """A dense copy would take 80 GB."""
    n, p = 100_000, 100_000
    rng = np.random.default_rng(0)
    stored = (rng.normal(size=300_000), (rng.integers(0, n, 300_000), rng.integers(0, p, 300_000)))
    found = problems(sparse.coo_array(stored, shape=(n, p)).tocsr(), pd.Series(np.repeat(["a", "b"], n // 2)))
    assert {finding.code for finding in found} == {"zero_rows", "constant_columns"}


def test_array_with_a_mask():
    cells = clean().to_numpy(copy=True)
    cells[5] = np.inf
    presence = np.ones((60, 1), dtype=bool)
    presence[5] = False
    tables = read_tables([cells], presence=presence)
    assert [finding.code for finding in find_problems(tables)] == ["samples_without_view"]


def test_array_of_objects():
    cells = clean().to_numpy().astype(object)
    cells[:, 2] = "same"
    cells[3, 0] = None
    assert codes({"v": cells}) == ["partly_missing_rows", "constant_columns"]


def test_nullable_numbers_and_truth_values():
    frame = clean()
    frame["count"] = pd.array([1, 5, None] * 20, dtype="Int64")
    frame["flag"] = pd.array([True, False, None] * 20, dtype="boolean")
    frame["flags"] = [True, False, None] * 20
    assert codes(frame) == ["partly_missing_rows", "duplicated_columns"]


def test_cells_of_every_kind_are_borne():
    n = 60
    odd = pd.DataFrame(
        {
            "mixed": [1, "a", 2.5] * 20,
            "lists": [[1], [2], [3]] * 20,
            "huge": [1e308, -1e308, 0.5] * 20,
            "missing": pd.array([pd.NA] * n, dtype="Int64"),
            "spans": pd.to_timedelta(np.arange(n), unit="D"),
            "intervals": pd.cut(np.arange(n), 4),
            7: np.arange(n) ** 2,
        },
        index=ids(n),
    )
    found = {finding.code: finding.columns for finding in problems(odd, classes())}
    assert found["unusable_columns"] == ("lists", "spans")
    assert found["all_missing"] == ("missing",)
    objects = odd[["missing", "huge"]].astype(object).to_numpy()
    assert codes({"v": objects}) == ["all_missing"]


def test_nullable_labels():
    frame = clean()
    frame["leak"] = np.arange(60.0)[::-1] ** 2
    targets = pd.Series(frame["leak"].astype("Float64") * 2, index=ids(60))
    targets.iloc[3] = pd.NA
    assert [finding.code for finding in problems(frame, targets)] == ["label_in_column"]
    truth = (frame["leak"] > 900).astype("boolean")
    truth.iloc[3] = pd.NA
    assert [finding.code for finding in problems(frame, truth)] == ["label_leakage"]


def test_levels_stand_worst_first():
    frame = clean()
    frame["constant"], frame["row"] = 1.0, np.arange(60)
    frame.loc["p0", "g0"] = np.inf
    levels = [finding.level for finding in problems(frame)]
    assert levels == ["error", "warning", "note"]


def test_one_sample():
    assert codes(pd.DataFrame({"x": [1.0]}, index=["p"]), pd.Series(["a"], index=["p"])) == ["one_class"]
