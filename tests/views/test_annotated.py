"""MuData and AnnData: one view per modality, matched by the names of the samples."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from coview import Views
from coview.exceptions import ViewError

anndata = pytest.importorskip("anndata")
mudata = pytest.importorskip("mudata")

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning")


def modality(values, samples, prefix, **kwargs):
    # Objects, as the file format has no writer for the text type of pandas.
    variables = pd.Index([f"{prefix}{place}" for place in range(values.shape[1])], dtype=object)
    samples = pd.Index(samples, dtype=object)
    return anndata.AnnData(values, obs=pd.DataFrame(index=samples), var=pd.DataFrame(index=variables), **kwargs)


RNA = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=np.float32)
ATAC = sparse.csr_matrix(np.array([[0.0, 7.0, 0.0], [8.0, 0.0, 0.0]]))


def test_modalities_are_views_joined_by_name():
    m = mudata.MuData({"rna": modality(RNA, ["c1", "c2", "c3"], "g"), "atac": modality(ATAC, ["c3", "c1"], "p")})
    v = Views(m)
    assert v.names == ["rna", "atac"]
    assert list(v.index) == ["c1", "c2", "c3"]
    assert_array_equal(v.presence, [[1, 1], [1, 0], [1, 1]])
    assert_array_equal(v["rna"], RNA)
    assert v["rna"].dtype == np.float32
    assert isinstance(v["atac"], sparse.csr_array)
    assert_array_equal(v["atac"].toarray(), [[8, 0, 0], [0, 7, 0]])
    assert list(v.feature_names["atac"]) == ["p0", "p1", "p2"]


def test_the_order_of_the_container_is_not_trusted():
    m = mudata.MuData({"rna": modality(RNA, ["c1", "c2", "c3"], "g"), "atac": modality(ATAC, ["c3", "c1"], "p")})
    assert Views(m[["c3", "c1", "c2"]].copy()).select(["rna"]).to_frame("rna").loc["c2"].tolist() == [3.0, 4.0]


def test_one_annotated_matrix_is_one_view():
    v = Views(modality(RNA, ["c1", "c2", "c3"], "g"))
    assert v.names == ["view_0"]
    assert list(v.index) == ["c1", "c2", "c3"]
    assert Views({"rna": modality(RNA, ["c1", "c2", "c3"], "g"), "b": np.ones((3, 1))}).n_views == 2


def test_a_backed_matrix_is_read(tmp_path):
    modality(RNA, ["c1", "c2", "c3"], "g").write_h5ad(tmp_path / "rna.h5ad")
    assert_array_equal(Views(anndata.read_h5ad(tmp_path / "rna.h5ad", backed="r"))["view_0"], RNA)


def test_repeated_variable_names_are_kept():
    a = anndata.AnnData(RNA, obs=pd.DataFrame(index=["c1", "c2", "c3"]), var=pd.DataFrame(index=["g", "g"]))
    assert list(Views(a).feature_names["view_0"]) == ["g", "g"]


def test_no_overlap_of_modalities_is_refused():
    m = mudata.MuData({"rna": modality(RNA, ["c1", "c2", "c3"], "g"), "atac": modality(ATAC, ["d1", "d2"], "p")})
    with pytest.raises(ViewError, match="No sample of view 'rna'"):
        Views(m)


def test_without_a_matrix_there_is_no_view():
    empty = anndata.AnnData(obs=pd.DataFrame(index=["c1"]), var=pd.DataFrame(index=["g"]))
    with pytest.raises(ViewError, match="AnnData without X"):
        Views({"rna": empty})


def test_names_come_from_the_container():
    m = mudata.MuData({"rna": modality(RNA, ["c1", "c2", "c3"], "g")})
    with pytest.raises(ViewError, match="names does not apply"):
        Views(m, names=["a"])


def test_modalities_that_share_variables_are_refused():
    shared = mudata.MuData(
        {"u": modality(RNA, ["c1", "c2", "c3"], "g"), "v": modality(RNA, ["d1", "d2", "d3"], "g")}, axis=1
    )
    with pytest.raises(ViewError, match="shares variables"):
        Views(shared)
