"""Parquet, NumPy archives, AnnData and MuData: types and ids are kept, code is never run."""

import datetime
import zipfile
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from coview.exceptions import ViewError
from coview.files import list_sheets, read_table, read_tables_in


def codes(table):
    return {finding.code for finding in table.findings}


@pytest.fixture
def parquet(tmp_path):
    pytest.importorskip("pyarrow")

    def write(frame, **options):
        frame.to_parquet(tmp_path / "t.parquet", **options)
        return tmp_path / "t.parquet"

    return write


def test_parquet_keeps_types_and_the_stored_index(parquet):
    frame = pd.DataFrame(
        {
            "n": [1, 2],
            "x": [1.5, None],
            "t": ["NA", None],
            "c": pd.Categorical(["u", "v"], categories=["v", "u"]),
            "b": [True, False],
            "d": pd.to_datetime(["2020-01-31", None]),
        },
        index=pd.Index(["007", "NA"], name="patient"),
    )
    table = read_table(parquet(frame))
    assert (list(table.ids), table.id_column) == (["007", "NA"], "patient")
    assert table.values["n"].dtype == np.int64
    assert table.values["b"].dtype == bool
    assert list(table.values["c"].cat.categories) == ["v", "u"]
    assert table.values["t"].tolist()[0] == "NA"
    assert table.values["d"].tolist()[0] == "2020-01-31"
    assert table.guesses["missing"] == "empty (3)"
    assert codes(table) == {"dates"}
    assert read_table(parquet(frame), id_column="PATIENT").id_column == "patient"


def test_parquet_ids_from_a_column(parquet):
    frame = pd.DataFrame({"sample": [1.0, 2.0], "other": ["a", "b"], "x": [1, 2]})
    assert list(read_table(parquet(frame)).ids) == ["1", "2"]
    assert list(read_table(parquet(frame), id_column="other").ids) == ["a", "b"]
    assert read_table(parquet(frame[["x"]])).ids is None
    with pytest.raises(ViewError, match="no column 'oter' for the ids"):
        read_table(parquet(frame), id_column="oter")
    with pytest.raises(ViewError, match=r"'sample' is empty in 1 row\(s\), first in row\(s\) 2"):
        read_table(parquet(frame.assign(sample=["p", None])))


def test_parquet_marks_apply_to_text_and_numbers(parquet):
    table = read_table(parquet(pd.DataFrame({"x": [-9, 2], "t": ["?", "a"]})), missing=["-9", "?"])
    assert table.values.isna().to_numpy().tolist() == [[True, True], [False, False]]


def test_parquet_refused(parquet, tmp_path):
    with pytest.raises(ViewError, match=r"'l \(list.*\)' hold lists"):
        read_table(parquet(pd.DataFrame({"l": [[1], [2]]})))
    with pytest.raises(ViewError, match="holds no row"):
        read_table(parquet(pd.DataFrame({"x": np.empty(0)})))
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(ViewError, match=r"bad\.parquet is not a whole Parquet file"):
        read_table(tmp_path / "bad.parquet")


def test_parquet_of_other_programs(tmp_path):
    """Decimals, dates and times as arrow has them, without pandas' metadata."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as writer

    table = pyarrow.table(
        {
            "id": ["p", "q"],
            "price": pyarrow.array([Decimal(1), Decimal(2)], pyarrow.decimal128(10, 2)),
            "day": [datetime.date(2020, 1, 31), None],
            "kind": pyarrow.array(["u", "v"]).dictionary_encode(),
        }
    )
    writer.write_table(table, tmp_path / "t.parquet")
    read = read_table(tmp_path / "t.parquet")
    assert read.values["price"].tolist() == [1.0, 2.0]
    assert read.values["day"].tolist()[0] == "2020-01-31"
    assert list(read.values["kind"].cat.categories) == ["u", "v"]
    assert codes(read) == {"dates"}


def test_arrays_with_ids_and_names(tmp_path):
    matrix = np.arange(6.0).reshape(3, 2)
    path = tmp_path / "t.npz"
    np.savez(path, X=matrix, ids=np.array(["007", "b", "c"]), features=np.array(["u", "v"]))
    table = read_table(path)
    assert (list(table.ids), list(table.values.columns), table.name) == (["007", "b", "c"], ["u", "v"], "t")
    assert_array_equal(table.values, matrix)
    assert list(read_table(path, id_column="patient").ids) == ["007", "b", "c"]
    np.savez(path, X=matrix, ids=np.array(["007", "b", "c"]), patient=np.array([1, 2, 3]))
    assert list(read_table(path, id_column="patient").ids) == ["1", "2", "3"]
    np.savez(path, X=matrix)
    table = read_table(path, missing=["3"])
    assert table.ids is None
    assert list(table.values.columns) == ["x0", "x1"]
    assert table.values.isna().to_numpy().sum() == 1


def test_several_arrays(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(
        path, A=np.ones((3, 2)), B=np.ones((2, 4)), B_ids=np.array([1, 2]), ids=np.array(["p", "q", "r"]), y=np.ones(3)
    )
    assert list_sheets(path) == ["A", "B"]
    with pytest.raises(ViewError, match=r"several tables: 'A', 'B'. Choose one, such as '.*t.npz#A'"):
        read_table(path)
    first, second = read_tables_in(path)
    assert (first.name, list(first.ids), second.name, list(second.ids)) == ("A", ["p", "q", "r"], "B", ["1", "2"])
    with pytest.raises(ViewError, match="no two-dimensional array of numbers 'y'"):
        read_table(path, sheet="y")


def test_sparse_matrices(tmp_path):
    path = tmp_path / "t.npz"
    matrix = sparse.random(4, 5, 0.5, format="coo", random_state=0)
    sparse.save_npz(path, matrix)
    table = read_table(path)
    assert isinstance(table.values, sparse.csr_array)
    assert_array_equal(table.values.toarray(), matrix.toarray())
    with zipfile.ZipFile(path, "a") as archive, archive.open("ids.npy", "w") as member:
        np.lib.format.write_array(member, np.array(["a", "b", "c", "d"]))
    assert list(read_table(path).ids) == ["a", "b", "c", "d"]
    assert list_sheets(path) == []


class Hostile:
    """Runs code where it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("code of a pickle was run",))


def test_pickles_are_never_loaded(tmp_path):
    path = tmp_path / "t.npz"
    hostile = np.empty(2, dtype=object)
    hostile[:] = [Hostile(), Hostile()]
    np.savez(path, X=np.ones((2, 2)), ids=hostile)
    with pytest.raises(ViewError, match="'ids' holds pickled Python objects"):
        read_table(path)
    np.savez(path, X=hostile.reshape(2, 1))
    with pytest.raises(ViewError, match="pickled Python objects, which can run code"):
        read_table(path)
    np.savez(path, format=hostile, shape=np.array([2, 2]), data=hostile, indices=hostile, indptr=hostile)
    with pytest.raises(ViewError, match="cannot be read"):
        read_table(path)


def test_arrays_refused(tmp_path):
    path = tmp_path / "t.npz"
    path.write_bytes(b"PK nothing")
    with pytest.raises(ViewError, match="not an archive of NumPy arrays"):
        read_table(path)
    np.savez(path, X=np.ones((2, 2, 2)))
    with pytest.raises(ViewError, match=r"no two-dimensional array of numbers: it holds 'X \(2, 2, 2\) float64'"):
        read_table(path)
    np.savez(path, X=np.ones((2, 2)), ids=np.array(["a"]))
    with pytest.raises(ViewError, match="'ids' has 1 entries, but the table has 2"):
        read_table(path)
    np.savez(path, X=np.ones((2, 2)))
    with pytest.raises(ViewError, match="no array 'patient' or 'ids' with one id for each of the 2 rows"):
        read_table(path, id_column="patient")


def test_infinity_in_arrays_is_told(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, X=np.array([[1.0, np.inf]]))
    assert codes(read_table(path)) == {"infinite_values"}


@pytest.fixture
def annotated():
    """Two modalities; names as objects, which the writers of AnnData know."""
    anndata = pytest.importorskip("anndata")

    def names(*labels):
        return pd.DataFrame(index=pd.Index(labels, dtype=object))

    rna = anndata.AnnData(np.arange(6.0).reshape(3, 2), obs=names("c1", "c2", "c3"), var=names("g1", "g2"))
    atac = anndata.AnnData(sparse.csr_matrix(np.eye(3)), obs=names("c9", "c3", "c2"), var=names("h1", "h2", "h3"))
    return rna, atac


def test_annotated_data(annotated, tmp_path):
    path = tmp_path / "t.h5ad"
    rna, atac = annotated
    rna.obs["who"] = pd.Series(["x", "y", "z"], index=rna.obs_names, dtype=object)
    rna.write_h5ad(path)
    table = read_table(path)
    assert (list(table.ids), list(table.values.columns)) == (["c1", "c2", "c3"], ["g1", "g2"])
    assert_array_equal(table.values, np.arange(6.0).reshape(3, 2))
    assert list(read_table(path, id_column="who").ids) == ["x", "y", "z"]
    assert list(read_table(path, id_column="patient").ids) == ["c1", "c2", "c3"]
    atac.var_names = pd.Index(["h", "h", "i"], dtype=object)
    atac.write_h5ad(path)
    with pytest.raises(ViewError, match=r"repeated: 'h' \(columns 1, 2\)"):
        read_table(path)
    path.write_bytes(b"nothing")
    with pytest.raises(ViewError, match=r"t\.h5ad cannot be read"):
        read_table(path)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning", "ignore::DeprecationWarning")
def test_modalities(annotated, tmp_path):
    mudata = pytest.importorskip("mudata")
    path = tmp_path / "t.h5mu"
    data = mudata.MuData(dict(zip(["rna", "atac"], annotated, strict=True)))
    data.obs.index = data.obs.index.astype(object)
    data.var.index = data.var.index.astype(object)
    data.write_h5mu(path)
    assert list_sheets(path) == ["rna", "atac"]
    rna, atac = read_tables_in(path)
    assert (rna.name, atac.name, atac.sheet) == ("rna", "atac", "atac")
    assert list(atac.ids) == ["c9", "c3", "c2"]
    assert isinstance(atac.values, sparse.csr_array)
    assert list(atac.columns) == ["h1", "h2", "h3"]
    with pytest.raises(ViewError, match="several tables: 'rna', 'atac'"):
        read_table(path)
    with pytest.raises(ViewError, match="no modality 'ct'"):
        read_table(path, sheet="ct")
