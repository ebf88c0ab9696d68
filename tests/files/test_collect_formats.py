"""Files of all kinds together: a clinical CSV, a workbook, Parquet, arrays, MuData."""

import gzip
import io
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from coview.compose import TableEncoder
from coview.exceptions import ViewError
from coview.files import TableOptions, read_table_set

IDS = [f"{number:03d}" for number in range(1, 9)]
DIED = ["yes", "no", "no", "", "yes", "no", "yes", "no"]


@pytest.fixture
def clinical(tmp_path):
    frame = pd.DataFrame({"patient": IDS, "age": [61.5, 48, 55, 70, 66, 50, 49, 58], "died": DIED})
    path = tmp_path / "clinical.csv"
    frame.to_csv(path, index=False, sep=";", decimal=",", encoding="utf-16", lineterminator="\r\n")
    return str(path)


def scores(names, ids):
    values = np.arange(len(ids) * len(names), dtype=float).reshape(len(ids), len(names)) / 4
    return pd.DataFrame(values, index=pd.Index(ids, name="id"), columns=names)


def workbook(path, **sheets):
    pytest.importorskip("python_calamine")
    pytest.importorskip("xlsxwriter")
    with pd.ExcelWriter(path, engine="xlsxwriter") as writer:
        for name, frame in sheets.items():
            frame.to_excel(writer, sheet_name=name)
    return str(path)


def test_a_cohort_in_three_formats(clinical, tmp_path):
    """Ids with leading zeros stay text in each format, so that the rows find each other."""
    pytest.importorskip("pyarrow")
    book = workbook(tmp_path / "proteins.xlsx", plasma=scores(["p1", "p2"], IDS[::-1]))
    scores(["volume"], IDS[2:]).to_parquet(tmp_path / "ct.parquet")
    table_set = read_table_set(TableOptions(data=(clinical, book, str(tmp_path / "ct.parquet")), target="died"))
    assert table_set.tables.names == ["clinical", "proteins", "ct"]
    assert list(table_set.tables.ids) == IDS
    assert table_set.labels.fillna("").to_list() == DIED
    views = TableEncoder(scale=False).fit_transform(table_set)
    np.testing.assert_allclose(views["clinical"][:2, 0], [61.5, 48])
    np.testing.assert_allclose(views["proteins"][0], scores(["p1", "p2"], IDS[::-1]).loc["001"])
    np.testing.assert_array_equal(views.rows("ct"), np.arange(2, 8))


def test_the_sheets_of_a_workbook_are_views(clinical, tmp_path):
    book = workbook(tmp_path / "book.xlsx", ct=scores(["a"], IDS), rna=scores(["b"], IDS))
    assert read_table_set(TableOptions(data=(book,))).tables.names == ["ct", "rna"]
    assert read_table_set(TableOptions(data=(clinical, f"{book}#rna"))).tables.names == ["clinical", "rna"]
    assert read_table_set(TableOptions(view=(f"x={book}#rna",))).tables.names == ["x"]
    with pytest.raises(ViewError, match="has several sheets: 'ct', 'rna'"):
        read_table_set(TableOptions(view=(f"x={book}",)))


def test_an_id_column_for_one_sheet(tmp_path):
    other = scores(["b", "key"], IDS).assign(key=IDS[::-1])
    book = workbook(tmp_path / "book.xlsx", ct=scores(["a"], IDS), rna=other)
    tables = read_table_set(TableOptions(data=(book,), id=("rna:key",))).tables
    assert list(tables.ids) == IDS
    np.testing.assert_array_equal(tables.tables[1].rows, np.arange(8)[::-1])


def test_labels_on_a_sheet(clinical, tmp_path):
    grades = pd.DataFrame({"grade": [1, 2, 1, 2, 1, 2, 1, 2]}, index=pd.Index(IDS, name="id"))
    book = workbook(tmp_path / "book.xlsx", ct=scores(["a"], IDS), outcome=grades)
    table_set = read_table_set(TableOptions(data=(clinical,), labels=f"{book}#outcome:grade"))
    assert table_set.labels.to_list() == ["1", "2"] * 4


def test_what_is_said_of_text_files_does_not_reach_others(clinical, tmp_path):
    book = workbook(tmp_path / "proteins.xlsx", plasma=scores(["p1"], IDS))
    options = TableOptions(data=(clinical, book), sep=";", decimal=",", encoding="utf-16")
    assert read_table_set(options).tables.n_samples == 8


def test_an_id_column_for_all_does_not_reach_arrays(clinical, tmp_path):
    np.savez(tmp_path / "x.npz", x=np.ones((8, 2)), ids=np.array(IDS))
    table_set = read_table_set(TableOptions(data=(clinical, str(tmp_path / "x.npz")), id=("patient",)))
    assert list(table_set.tables.ids) == IDS
    np.savez(tmp_path / "y.npz", y=np.ones((8, 2)))
    with pytest.raises(ViewError, match="no array 'age' or 'ids'"):
        read_table_set(TableOptions(data=(clinical, str(tmp_path / "y.npz")), id=("y:age",)))


def test_sparse_tables_stay_sparse(clinical, tmp_path):
    matrix = sparse.csr_array(np.eye(8, 5))
    path = tmp_path / "words.npz"
    np.savez(
        path,
        format=np.array(b"csr"),
        shape=matrix.shape,
        data=matrix.data,
        indices=matrix.indices,
        indptr=matrix.indptr,
        ids=np.array(IDS[::-1]),
    )
    table_set = read_table_set(TableOptions(data=(clinical, str(path)), target="died"))
    words = table_set.tables.tables[1]
    assert sparse.issparse(words.values)
    np.testing.assert_array_equal(words.rows, np.arange(8)[::-1])


def test_modalities_are_views(clinical, tmp_path):
    mudata = pytest.importorskip("mudata")
    anndata = pytest.importorskip("anndata")

    def modality(ids, n_columns):
        names = pd.DataFrame(index=pd.Index([f"g{place}" for place in range(n_columns)], dtype=object))
        return anndata.AnnData(np.ones((len(ids), n_columns)), pd.DataFrame(index=pd.Index(ids, dtype=object)), names)

    path = tmp_path / "cells.h5mu"
    # this anndata cannot write pandas' newer text
    with warnings.catch_warnings(action="ignore"), pd.option_context("future.infer_string", False):
        mudata.MuData({"rna": modality(IDS, 3), "atac": modality(IDS[:4:-1], 2)}).write(path)
    table_set = read_table_set(TableOptions(data=(str(path),), labels=f"{clinical}:died"))
    assert table_set.tables.names == ["rna", "atac"]
    assert list(table_set.tables.ids) == IDS
    assert (table_set.id_name, table_set.labels.count()) == ("sample", 7)


def test_packed_text_and_standard_input(clinical, tmp_path, monkeypatch):
    with gzip.open(tmp_path / "ct.csv.gz", "wt", encoding="utf-8") as stream:
        stream.write("id,volume\n001,2\n002,3\n")

    class Input:
        buffer = io.BytesIO(b"id,x\n002,1\n003,5\n")

    monkeypatch.setattr("sys.stdin", Input())
    tables = read_table_set(TableOptions(data=(str(tmp_path / "ct.csv.gz"), "-"))).tables
    assert tables.names == ["ct", "stdin"]
    assert list(tables.ids) == ["001", "002", "003"]
