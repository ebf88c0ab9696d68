"""What ``Views`` accepts: every container of the same data gives equal views."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from coview import Views
from coview.exceptions import ViewError

A = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
B = np.array([[7.0], [8.0], [9.0]])


def as_pandas(array):
    return pd.DataFrame(array, columns=[f"c{place}" for place in range(array.shape[1])])


def as_polars(array):
    polars = pytest.importorskip("polars")
    return polars.DataFrame({f"c{place}": array[:, place] for place in range(array.shape[1])})


def as_arrow(array):
    arrow = pytest.importorskip("pyarrow")
    return arrow.table({f"c{place}": array[:, place] for place in range(array.shape[1])})


CONVERTERS = {
    "array": np.asarray,
    "fortran array": np.asfortranarray,
    "nested list": lambda array: array.tolist(),
    "object array": lambda array: array.astype(object),
    "pandas": as_pandas,
    "nullable pandas": lambda array: as_pandas(array).astype("Float64"),
    "object pandas": lambda array: as_pandas(array).astype(object),
    "sparse pandas": lambda array: as_pandas(array).astype(pd.SparseDtype(float, 0.0)),
    "polars": as_polars,
    "arrow": as_arrow,
    "csr_array": sparse.csr_array,
    "csr_matrix": sparse.csr_matrix,
    "csc_array": sparse.csc_array,
    "coo_array": sparse.coo_array,
    "dok_matrix": sparse.dok_matrix,
    "masked array": np.ma.masked_array,
}


@pytest.mark.parametrize("convert", CONVERTERS.values(), ids=CONVERTERS)
def test_every_container_gives_equal_views(convert):
    expected = Views({"a": A, "b": B})
    assert Views({"a": convert(A), "b": convert(B)}) == expected
    assert Views([convert(A), convert(B)], names=["a", "b"]) == expected
    assert Views((convert(A), convert(B)), names=("a", "b")) == expected
    assert Views({"a": convert(A), "b": convert(B[::-1])}) != expected


def test_names_shapes_and_blocks():
    v = Views([A, B])
    assert v.names == ["view_0", "view_1"]
    assert list(v) == v.names
    assert "view_1" in v
    assert "ct" not in v
    assert (v.n_samples, v.n_views, v.n_features) == (3, 2, {"view_0": 2, "view_1": 1})
    assert v.shape == (3, 3)
    assert len(v) == 3
    assert_array_equal(v["view_0"], A)
    assert_array_equal(v.rows("view_1"), [0, 1, 2])
    assert list(v.index) == ["0", "1", "2"]
    assert v.index.dtype == "str"


def test_view_names_become_text():
    assert Views({1: A, 2.5: B}).names == ["1", "2.5"]


def test_a_list_of_rows_is_one_table():
    assert Views([[1, 2], [3, 4], [5, 6]]) == Views(A)
    assert Views([np.array([1, 2]), np.array([3, 4]), np.array([5, 6])]) == Views([A])
    assert Views(A).names == ["view_0"]


def test_a_list_of_nested_lists_is_views():
    assert Views([A.tolist(), B.tolist()]).n_features == {"view_0": 2, "view_1": 1}
    assert Views([A]).n_views == 1


@pytest.mark.parametrize("array", [np.zeros((2, 2, 2)), [np.zeros((2, 2, 2))], np.zeros(3), np.array(3.0), [1.0, 2.0]])
def test_arrays_that_are_not_tables_are_refused(array):
    with pytest.raises(ViewError, match="two-dimensional"):
        Views(array)


def test_rows_and_tables_must_not_be_mixed_in_one_list():
    with pytest.raises(ViewError, match="1 and 2 dimensions"):
        Views([[1.0, 2.0], A])
    with pytest.raises(ViewError, match="two-dimensional"):
        Views([A, [1.0, 2.0, 3.0]])


def test_multiindex_columns_are_views_in_order_of_first_appearance():
    columns = pd.MultiIndex.from_tuples([("z", "x"), ("a", "x"), ("z", "y")])
    v = Views(pd.DataFrame([[1.0, 7.0, 2.0], [3.0, 8.0, 4.0], [5.0, 9.0, 6.0]], columns=columns))
    assert v.names == ["z", "a"]
    assert_array_equal(v["z"], A)
    assert list(v.feature_names["z"]) == ["x", "y"]
    assert_array_equal(v["a"], B)


def test_multiindex_columns_may_be_sparse():
    columns = pd.MultiIndex.from_tuples([("z", "x"), ("a", "x"), ("z", "y")])
    frame = pd.DataFrame([[1.0, 7.0, 0.0], [0.0, 8.0, 4.0]], columns=columns)
    v = Views(frame.astype(pd.SparseDtype(float, 0.0)))
    assert sparse.issparse(v["z"])
    assert v == Views(frame)


def test_three_column_levels_keep_the_lower_two_as_feature():
    columns = pd.MultiIndex.from_tuples([("a", "left", "x"), ("a", "left", "y"), ("b", "right", "x")])
    v = Views(pd.DataFrame(np.hstack([A, B]), columns=columns))
    assert list(v.feature_names["a"]) == [("left", "x"), ("left", "y")]


def test_series_is_a_view_of_one_column():
    v = Views({"a": as_pandas(A), "b": pd.Series(B.ravel(), name="dose")})
    assert_array_equal(v["b"], B)
    assert list(v.feature_names["b"]) == ["dose"]


def test_views_of_views_are_the_same_views():
    v = Views([A, B], presence=[[1, 1], [0, 1], [1, 0]])
    assert Views(v) == v
    assert_array_equal(Views(v, presence=[[0, 1], [0, 1], [1, 0]]).presence[0], [False, True])
    with pytest.raises(ViewError, match="presence is True for 1 samples"):
        Views(v, presence=np.ones((3, 2)))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float16", "float32", "float64"])
def test_numeric_dtypes_are_kept(dtype):
    assert Views([A.astype(dtype)])["view_0"].dtype == dtype
    assert (
        Views([sparse.csr_array(A.astype(dtype))] if dtype != "float16" else [A.astype(dtype)])["view_0"].dtype == dtype
    )
    assert Views([pd.DataFrame(A.astype(dtype))])["view_0"].dtype == dtype


@pytest.mark.parametrize("dtype", ["Int64", "Float32", "object", "bool", "boolean"])
def test_other_numbers_become_float64(dtype):
    frame = pd.DataFrame({"x": [1, 0], "y": [0, 1]}).astype(dtype)
    values = Views([frame])["view_0"]
    assert values.dtype == np.float64
    assert_array_equal(values, [[1, 0], [0, 1]])


def test_nullable_gaps_become_nan():
    frame = pd.DataFrame({"x": pd.array([1, None], dtype="Int64"), "y": pd.array([True, None], dtype="boolean")})
    v = Views({"a": frame, "b": np.ones((2, 1))})
    assert_array_equal(v["a"], [[1, 1]])
    mixed = pd.DataFrame({"x": pd.array([1, None], dtype="Int64"), "y": [0.5, 1.5], "z": [None, 3]})
    assert_array_equal(Views([mixed])["view_0"], [[1, 0.5, np.nan], [np.nan, 1.5, 3]])


def test_mixed_numeric_columns_become_floats():
    frame = pd.DataFrame(
        {"x": np.array([1, 2], dtype="int64"), "y": np.array([1, 2], dtype="uint64"), "z": [True, False]}
    )
    assert_array_equal(Views([frame])["view_0"], [[1, 1, 1], [2, 2, 0]])
    integers = Views([frame[["x", "y"]]])["view_0"]
    assert integers.dtype == np.float64
    assert_array_equal(integers, [[1, 1], [2, 2]])


def test_masked_entries_are_missing_features():
    masked = np.ma.masked_array(A, mask=[[True, False], [False, False], [True, True]])
    v = Views([masked])
    assert_array_equal(v.presence.ravel(), [True, True, False])
    assert_array_equal(v["view_0"], [[np.nan, 2], [3, 4]])


def test_polars_nulls_and_types():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"x": [1, None, 3], "y": [True, False, None], "z": [0.5, None, 1.5]})
    assert_array_equal(Views([frame])["view_0"], [[1, 1, 0.5], [np.nan, 0, np.nan], [3, np.nan, 1.5]])
    whole = polars.DataFrame({"x": [1, 2], "y": [3, 4]})
    assert Views([whole])["view_0"].dtype == np.int64
    with pytest.raises(ViewError, match="lazy frame"):
        Views({"a": whole.lazy()})
    text = polars.DataFrame({"x": ["a", "b"], "y": polars.Series(["u", "v"], dtype=polars.Categorical)})
    with pytest.raises(ViewError, match=r"'x' \(text\), 'y' \(category\).*TableEncoder"):
        Views({"a": text})


def test_arrow_nulls_are_missing():
    arrow = pytest.importorskip("pyarrow")
    v = Views({"a": arrow.table({"x": [1.0, None, 3.0]}), "b": B})
    assert_array_equal(v.presence[:, 0], [True, False, True])


def test_input_is_shared_and_read_only():
    v = Views([A, sparse.csr_array(B), pd.DataFrame(A)])
    assert np.shares_memory(v["view_0"], A)
    assert_array_equal(Views([A[:, :1]])["view_0"], A[:, :1])
    with pytest.raises(ValueError, match="read-only"):
        v["view_0"][0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        v["view_1"].data[0] = 1.0
    assert A.flags.writeable


def test_csr_shares_memory_with_its_source():
    source = sparse.csr_array(A)
    block = Views([source])["view_0"]
    assert isinstance(block, sparse.csr_array)
    assert np.shares_memory(block.data, source.data)
    assert source.data.flags.writeable


def test_read_only_input_is_fine():
    locked = A.copy()
    locked.flags.writeable = False
    csr = sparse.csr_array(A)
    for part in (csr.data, csr.indices, csr.indptr):
        part.flags.writeable = False
    v = Views([locked, csr])
    assert_array_equal(v[[2, 0]]["view_1"].toarray(), A[[2, 0]])


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array])
def test_duplicate_and_unsorted_sparse_entries_are_summed_on_a_copy(container):
    source = container((np.array([1.0, 2.0, 4.0]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 2))
    v = Views([source])
    assert_array_equal(v["view_0"].toarray(), [[4.0, 3.0]])
    assert v["view_0"].nnz == 2
    assert_array_equal(source.data, [1.0, 2.0, 4.0])
    assert_array_equal(source.indices, [1, 1, 0])


def test_64_bit_indices_are_narrowed_without_touching_the_source():
    source = sparse.csr_array(A)
    source.indices, source.indptr = source.indices.astype(np.int64), source.indptr.astype(np.int64)
    block = Views([source])["view_0"]
    assert block.indices.dtype == block.indptr.dtype == np.int32
    assert source.indices.dtype == np.int64
    assert_array_equal(block.toarray(), A)


def test_64_bit_indices_stay_where_the_width_needs_them():
    width = np.iinfo(np.int32).max + 10
    source = sparse.csr_array((np.ones(1), np.array([width - 1]), np.array([0, 1])), shape=(1, width))
    block = Views([source])["view_0"]
    assert block.indices.tolist() == [width - 1]
    assert block.shape == (1, width)


def test_nothing_densifies_a_sparse_view():
    wide = sparse.random_array((50, 10_000_000), density=1e-6, rng=np.random.default_rng(0), format="csr")
    v = Views({"wide": wide, "b": np.ones((50, 1))})
    assert sparse.issparse(v[::2]["wide"])
    assert v == Views(v)


def test_object_sparse_numbers_become_float64():
    source = sparse.csr_array(A)
    source.data = source.data.astype(object)
    assert Views([source])["view_0"].dtype == np.float64


@pytest.mark.parametrize("one", [np.ones((1, 2)), sparse.csr_array(np.ones((1, 2))), pd.DataFrame([[1.0, 2.0]])])
def test_one_sample(one):
    v = Views({"a": one, "b": one})
    assert v.shape == (1, 4)
    assert v.presence.tolist() == [[True, True]]


def test_source_is_never_modified():
    frame = pd.DataFrame({"x": [1.0, None], "y": [None, None]}, index=["p", "q"])
    array, kept = np.array([[1.0, np.nan], [np.nan, np.nan]]), frame.copy()
    Views({"a": frame, "b": array}, presence=[[True, True], [False, False]])
    pd.testing.assert_frame_equal(frame, kept)
    assert_array_equal(array, [[1.0, np.nan], [np.nan, np.nan]])
