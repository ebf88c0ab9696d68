"""Sets that do not come with coview, read from small made-up files in the forms that the catalog lists."""

import gzip
import re
import tomllib

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from coview.datasets import describe_fetchable, fetch, fetch_names, write_csv
from coview.datasets._catalog import catalog
from coview.files import TableOptions, read_table_set
from coview.views import Views

N = 12


def sparse_rows(shape, seed=0):
    """0/1 rows, the second one empty."""
    matrix = sparse.random_array(shape, density=0.4, rng=seed, format="lil")
    matrix[:] = (matrix.toarray() > 0).astype(float)
    matrix[0, 0] = 1
    matrix[1] = 0
    return matrix.tocsr().astype(np.int8)


def write_table(file, **columns):
    pd.DataFrame(columns).to_csv(file, index=False)


def write_lines(file, n_lines):
    with gzip.open(file, "wt", encoding="utf-8") as stream:
        stream.write("".join(f"word{line}\n" for line in range(n_lines)))


def write_documents(folder, name):
    """Files of the sets with sparse views; each has N samples with ids d0, d1, ... or none."""
    rows, labels = np.arange(N), ["NA", "b"] * (N // 2)
    if name in ("citeseer", "cora"):
        write_table(folder / "docs.csv.gz", row=rows, id=[f"0{row}" for row in rows], label=labels)
        write_table(folder / "cites.csv.gz", cited=["01"], citing=["02"])
        views = {"text": 5, "inbound": 4, "outbound": 3}
        for view in ("inbound", "outbound"):
            write_lines(folder / f"{view}_features.txt.gz", views[view])
    elif name == "webkb6":
        columns = {"url": ["same"] * N, "university": ["misc"] * N, "label": labels, "n_inbound_links": rows}
        write_table(folder / "pages.csv.gz", row=rows, **columns)
        views = {"text": 5, "anchor": 4, "inbound_pages": N}
        for view in ("text", "anchor"):
            write_lines(folder / f"{view}_vocab.txt.gz", views[view])
    elif name == "three_sources":
        columns = {f"has_{agency}": np.ones(N, int) for agency in ("bbc", "guardian", "reuters")}
        write_table(folder / "stories.csv.gz", row=rows, story=rows, label=labels, labels_multi=labels, **columns)
        views = {"bbc": 5, "guardian": 4, "reuters": 3}
        for view, width in views.items():
            write_lines(folder / f"{view}_terms.txt.gz", width)
    else:
        write_table(folder / "labels.csv.gz", row=rows, label=labels)
        names = {"webkb_course": ("page", "link"), "bbcsport": ("view1", "view2")}
        views = dict.fromkeys(names.get(name, ("view1", "view2", "view3")), 5)
    for seed, (view, width) in enumerate(views.items()):
        sparse.save_npz(folder / f"{view}.npz", sparse_rows((N, width), seed))


def write_universities(folder):
    for number, university in enumerate(("cornell", "washington", "wisconsin", "texas")):
        n = 3 + number
        ids = [f"http://{university}/{page}" for page in range(n)]
        write_table(folder / f"{university}_pages.csv.gz", row=np.arange(n), id=ids, label=["student"] * n)
        sparse.save_npz(folder / f"{university}_content.npz", sparse_rows((n, 7), number))
        sparse.save_npz(folder / f"{university}_inbound.npz", sparse_rows((n, n), number))


def write_measurements(folder, name):
    """Files of the sets with dense views."""
    rng = np.random.default_rng(0)
    labels = [1, 2] * (N // 2)

    def arrays(file, **widths):
        stored = {key: rng.normal(size=(N, width)) for key, width in widths.items()}
        np.savez(folder / file, **stored)

    if name == "mfeat":
        write_table(folder / "labels.csv.gz", row=np.arange(N), label=labels)
        for view in ("fou", "fac", "kar", "pix", "zer", "mor"):
            arrays(f"{view}.npz", X=3)
    elif name == "msrc_v1":
        write_table(folder / "labels.csv.gz", row=np.arange(N), label=labels)
        arrays("views.npz", color_moment24=2, hog576=3)
    elif name == "protein_folds":
        texts = {"id": ["P"] * N, "part": ["train"] * N, "fold_name": ["x", "y"] * (N // 2), "sequence": ["AC"] * N}
        write_table(folder / "proteins.csv.gz", row=np.arange(N), fold=labels, **texts)
        arrays("views.npz", C=2, S=3)
    elif name == "landmine":
        np.savez(folder / "landmine.npz", X=rng.normal(size=(N, 9)), y=np.int8(labels), task=np.int8(labels))
    elif name == "satimage":
        bands = {f"band{number}": np.full((N, 9), 200, np.uint8) for number in range(1, 5)}
        np.savez(folder / "satimage.npz", y=np.int8(labels), **bands)
    elif name == "phonemes":
        shapes = {"articulatory": (N, 2), "next_prob_dictionary": (N, N), "acoustic_mfcc39": (N, 3)}
        stored = {key: rng.random(shape).astype(np.float32) for key, shape in shapes.items()}
        phones = np.array([f"P{number}" for number in range(N)])
        np.savez(folder / "phonemes.npz", phones=phones, articulatory_names=np.array(["high", "low"]), **stored)
        texts = {"phone": phones, "ipa": ["ɑ"] * N, "family": ["vowel", "stop"] * (N // 2), "subfamily": ["x"] * N}
        write_table(folder / "reference_classes.csv.gz", row=np.arange(N), **texts)
    elif name == "spoken_digits":
        np.savez(folder / "audio_mfcc.npz", segments=np.zeros((4, 104)), mean_std=rng.normal(size=(4, 26)))
        np.savez(folder / "image_digits.npz", X=rng.normal(size=(4, 64)), y=np.int8([0, 1, 0, 1]))
        roles = ["pair", "labelled_audio", "test_image", "pair"]
        split = {"role": roles, "digit": [0, 1, 0, 1], "audio_row": [2, 3, -1, 0], "image_row": [1, -1, 2, 3]}
        write_table(folder / "ssml_split.csv.gz", **split)
    elif name == "nutrimouse":
        write_table(folder / "gene.csv.gz", g1=rng.normal(size=N), g2=rng.normal(size=N))
        write_table(folder / "lipid.csv.gz", l1=rng.normal(size=N))
        write_table(folder / "diet.csv.gz", diet=["fish", "sun"] * (N // 2))
        write_table(folder / "genotype.csv.gz", genotype=["wt"] * N)
    elif name == "nsclc_survival":
        for part, ids in (("train", [7, 3, 5]), ("test", [9])):
            stages = {"Mstage": [0] * len(ids), "Nstage": [1] * len(ids), "Tstage": [2] * len(ids)}
            texts = {"Histology": ["nos"] * len(ids), "SourceDataset": ["l1"] * len(ids), "age": [60.0] * len(ids)}
            write_table(folder / f"clinical_{part}.csv.gz", PatientID=ids, **texts, **stages)
            write_table(folder / f"radiomics_{part}.csv.gz", PatientID=ids, volume=np.float64(ids))
        outcome = {"SurvivalTime": [900, 300, 100], "Event": [0, 1, 0], "two_year": [1, -1, None]}
        write_table(folder / "outcome_train.csv.gz", PatientID=[7, 3, 5], **outcome)
    elif name == "parallel/sib200":
        texts = {language: ["a word", "two, words"] * (N // 2) for language in ("en", "fr", "de", "fr_mt", "en_mt")}
        write_table(folder / "sib200.csv.gz", id=np.arange(N), part=["train"] * N, topic=["x", "y"] * (N // 2), **texts)
    elif name == "lung_ncctg":
        people = {"inst": [1, 2, 3, 3], "time": [400, 300, 300, 365], "status": [1, 1, 0, 1], "age": [60] * 4}
        scores = {"sex": [1, 2, 1, 2], "ph.ecog": [1] * 4, "ph.karno": [90] * 4, "pat.karno": [80] * 4}
        write_table(folder / "lung.csv.gz", **people, **scores, **{"meal.cal": [None] * 4, "wt.loss": [1, None, 2, 3]})


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    """A folder with small files of every set."""
    root = tmp_path_factory.mktemp("data")
    for name in catalog():
        folder = root / name.split("/")[0]
        folder.mkdir(exist_ok=True)
        if name.startswith("uci/"):
            columns = {"label": ["a", "b"] * (N // 2)} | ({"part": ["train"] * N} if name == "uci/optdigits" else {})
            write_table(root / f"{name}.csv.gz", x1=np.arange(N), x2=np.arange(N) / 7, **columns)
        elif name == "webkb_universities":
            write_universities(folder)
        elif any("sparse" in content for content in catalog()[name].contents.values()):
            write_documents(folder, name)
        else:
            write_measurements(folder, name)
    return root


def read(name, data_dir, **options):
    return fetch(name, data_dir, verify=False, **options)


@pytest.mark.parametrize("name", fetch_names())
def test_every_set_has_the_same_shape(name, data_dir):
    bunch = read(name, data_dir)
    ids = bunch.target.index
    assert ids.is_unique
    assert ids.name == "sample"
    pd.testing.assert_index_equal(bunch.meta.index, ids)
    if "views" in bunch:
        assert list(bunch.views.index) == list(ids)
        # small integers, as stored, would overflow in products
        assert {bunch.views[view].dtype for view in bunch.views} == {np.dtype(np.float64)}
    else:
        assert all(frame.index.isin(ids).all() for frame in bunch.frames.values())
    assert bunch.name == name
    assert bunch.target_names == sorted(bunch.target.dropna().unique().tolist())
    assert "Please cite" in bunch.origin
    assert bunch.licence in bunch.origin
    assert list(bunch.published.columns) == ["name", "source", "setting", "method", "metric", "value", "sd"]


@pytest.mark.parametrize("name", fetch_names())
def test_every_set_can_be_written_as_files(name, data_dir, tmp_path):
    bunch = read(name, data_dir)
    written = write_csv(bunch, tmp_path)
    for view in bunch.get("frames", bunch.get("views")):
        (file,) = [file for file in written if file.stem == view]
        if file.suffix == ".npz":
            stored = sparse.csr_array(sparse.load_npz(file))
            assert abs(stored - bunch.views[view]).nnz == 0
            with np.load(file, allow_pickle=False) as arrays:
                assert list(arrays["ids"]) == list(bunch.views.index[bunch.views.rows(view)])
        else:
            back = pd.read_csv(file, index_col="sample", dtype={"sample": "str"}, keep_default_na=False, na_values="")
            rows = bunch.frames[view].index if "frames" in bunch else bunch.views.index[bunch.views.rows(view)]
            assert list(back.index) == list(rows)


def test_unnamed_columns_are_called_after_their_view(data_dir, tmp_path):
    write_csv(read("satimage", data_dir), tmp_path)
    heads = {view: (tmp_path / f"{view}.csv").read_text().split("\n")[0] for view in ("band1", "band2")}
    assert heads["band1"].startswith("sample,band1_1,band1_2,")
    assert heads["band2"].endswith(",band2_9")


def test_configuration_names_sparse_files_too(data_dir, tmp_path):
    write_csv(read("cora", data_dir), tmp_path)
    told = tomllib.loads((tmp_path / "coview.toml").read_text())
    assert told == {
        "id": "sample",
        "labels": "target.csv",
        "target": "field",
        "views": {"text": "text.npz", "inbound": "inbound.npz", "outbound": "outbound.npz"},
    }


def test_written_sparse_sets_read_back(data_dir, tmp_path):
    """The command line's reader makes of the files what was written: views, missing ones too, and labels."""
    bunch = read("three_sources", data_dir)
    write_csv(bunch, tmp_path)
    tables = read_table_set(TableOptions(data=(str(tmp_path),), na=("",)))  # one of the classes is called NA
    assert tables.target == "topic"
    back = Views(tables)
    order = [back.index.get_loc(sample) for sample in bunch.views.index if sample in back.index]
    kept = np.flatnonzero(bunch.views.presence.any(axis=1))
    assert back[order] == bunch.views[kept]
    assert tables.labels.loc[bunch.views.index[kept]].tolist() == bunch.target.iloc[kept].tolist()


def test_absent_files_are_named_with_their_contents_and_source(tmp_path):
    (tmp_path / "uci").mkdir()
    with pytest.raises(FileNotFoundError) as caught:
        fetch("citeseer", tmp_path)
    message = str(caught.value)
    for text in ("citeseer/text.npz", "sparse, 3312 x 3703", "while519/Document_Network", "none stated", str(tmp_path)):
        assert text in message
    assert message.count("\n    citeseer/") == 7
    assert len(message.splitlines()) < 24


def test_only_absent_files_are_named(data_dir, tmp_path):
    (tmp_path / "nutrimouse").mkdir()
    for name in ("gene", "lipid", "diet"):
        file = f"nutrimouse/{name}.csv.gz"
        (tmp_path / file).write_bytes((data_dir / file).read_bytes())
    with pytest.raises(FileNotFoundError, match=r"not in .*:\n    nutrimouse/genotype.csv.gz  genotype\n\S"):
        fetch("nutrimouse", tmp_path)


def test_other_bytes_are_told_and_read_only_on_demand(data_dir):
    with pytest.raises(ValueError, match=r"SHA-256 differs\): uci/wine\.csv\.gz\. With verify=False"):
        fetch("uci/wine", data_dir)
    assert read("uci/wine", data_dir).views.n_samples == N


def test_expected_bytes_pass(data_dir, monkeypatch):
    digest = "0" * 64
    monkeypatch.setattr("coview.datasets._catalog._sha256", lambda file: digest)
    entry = catalog()["uci/wine"]
    monkeypatch.setitem(entry.digests, "uci/wine.csv.gz", digest)
    assert fetch("uci/wine", data_dir).views.n_samples == N


def test_every_file_of_the_catalog_has_a_digest():
    for entry in catalog().values():
        assert entry.digests.keys() == entry.contents.keys()
        assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in entry.digests.values())


@pytest.mark.parametrize(
    ("name", "missing"), [("citeseer", False), ("webkb6", False), ("webkb_course", False), ("three_sources", True)]
)
def test_empty_rows_are_read_as_the_source_reads_them(name, missing, data_dir):
    bunch = read(name, data_dir)
    assert not bunch.presence.iloc[1].any()
    assert bunch.views.presence[1].any() != missing
    assert not read(name, data_dir, empty_rows="missing").views.presence[1].any()
    assert read(name, data_dir, empty_rows="observed").views.presence.all()


def test_empty_rows_is_refused_where_it_means_nothing(data_dir):
    with pytest.raises(ValueError, match="'mfeat' has none"):
        read("mfeat", data_dir, empty_rows="missing")
    with pytest.raises(ValueError, match="empty_rows must be 'observed', 'missing' or None; got 'drop'"):
        read("cora", data_dir, empty_rows="drop")


def test_unknown_names_are_refused_with_the_names():
    with pytest.raises(ValueError, match=r"must be one of citeseer, cora, .*; got 'webkb'"):
        fetch("webkb", ".")
    with pytest.raises(ValueError, match="got 'uci'"):
        describe_fetchable("uci")


def test_ids_stay_text_and_na_stays_a_class(data_dir):
    bunch = read("citeseer", data_dir)
    assert list(bunch.views.index[:2]) == ["00", "01"]
    assert bunch.target.tolist()[:2] == ["NA", "b"]
    assert bunch.cites.loc[0].tolist() == ["01", "02"]
    assert list(bunch.views.feature_names["outbound"]) == ["word0", "word1", "word2"]


def test_universities_are_stacked_and_links_stay_inside(data_dir):
    whole = read("webkb_universities", data_dir)
    at = {}
    for university in ("cornell", "washington", "wisconsin", "texas"):
        part = read(f"webkb_universities/{university}", data_dir)
        rows = whole.meta["university"] == university
        at[university] = rows.to_numpy()
        assert list(whole.target.index[rows]) == list(part.target.index)
        inside = whole.views["inbound"][at[university]][:, at[university]]
        assert abs(inside - part.views["inbound"]).nnz == 0
        assert abs(whole.views["content"][at[university]] - part.views["content"]).nnz == 0
    assert whole.views["inbound"][at["cornell"]][:, ~at["cornell"]].nnz == 0


def test_survival_is_known_only_where_it_was_seen(data_dir):
    lung = read("lung_ncctg", data_dir)
    assert lung.target.fillna("?").tolist() == ["alive", "dead", "?", "dead"]
    nsclc = read("nsclc_survival", data_dir)
    assert nsclc.target.fillna("?").to_dict() == {"7": "alive", "3": "dead", "5": "?", "9": "?"}
    assert nsclc.frames["radiomics"].loc["9", "volume"] == 9
    assert nsclc.meta["part"].tolist() == ["train", "train", "train", "test"]


def test_patients_without_a_value_of_a_view_are_absent_from_it(data_dir):
    assert len(read("lung_ncctg", data_dir).frames["nutrition"]) == 3


def test_spoken_digits_are_paired_as_the_split_says(data_dir):
    bunch = read("spoken_digits", data_dir)
    with np.load(data_dir / "spoken_digits" / "audio_mfcc.npz") as audio:
        np.testing.assert_array_equal(bunch.views["audio"], audio["mean_std"][[2, 3, 0]])
    np.testing.assert_array_equal(bunch.views.presence, [[1, 1], [1, 0], [0, 1], [1, 1]])
    np.testing.assert_array_equal(bunch.target, [np.nan, 1, np.nan, np.nan])


def test_published_figures_are_those_of_the_papers(data_dir):
    """Yu et al. 2011, the last line of tables 1 and 2; Liu and Sun, the last but one of table 2."""
    ours = {
        name: table[table["method"] == "Bayesian co-training"].set_index(["setting", "metric"])["value"].to_dict()
        for name, table in ((name, read(name, data_dir).published) for name in ("citeseer", "webkb6"))
    }
    assert ours["citeseer"] == {
        ("labels +2/-10", "auc"): 0.6536,
        ("labels +2/-10", "f1"): 0.4210,
        ("labels +4/-20", "auc"): 0.6880,
        ("labels +4/-20", "f1"): 0.4530,
    }
    assert ours["webkb6"] == {
        ("labels +2/-2", "auc"): 0.5794,
        ("labels +2/-2", "f1"): 0.5562,
        ("labels +4/-4", "auc"): 0.6140,
        ("labels +4/-4", "f1"): 0.5742,
    }
    regularized = read("webkb_universities", data_dir).published.query("method == 'MvGP1'")
    assert regularized["value"].tolist() == [0.8564, 0.8630, 0.9132, 0.7833]
    assert len(read("webkb_universities/texas", data_dir).published) == 6


def test_description_of_a_part_names_the_part():
    assert "'texas'" in describe_fetchable("webkb_universities/texas")["title"]
    assert describe_fetchable("webkb_universities")["title"].startswith("877 web pages")


def test_views_of_a_set_slice_as_views_do(data_dir):
    bunch = read("cora", data_dir)
    assert isinstance(bunch.views[:3], Views)
    assert sparse.issparse(bunch.views[:3]["text"])
