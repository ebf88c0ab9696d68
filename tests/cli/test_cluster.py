"""``coview cluster``: what comes out of files, what is refused, how it ends."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from coview.cli._cluster_methods import CLUSTER_METHODS, ClusterFacts
from coview.cli._program import run
from coview.cluster import HybridHierarchicalClustering, MultiViewKMeans, eigengaps
from coview.compose import TableEncoder
from coview.persistence import load_model
from coview.views import read_tables

from .fit_problems import write

N = 60
SPECIES = np.arange(N) % 3


def birds(seed=0):
    """Three species that song and color tell apart; every fifth bird was not heard, every tenth not seen."""
    rng = np.random.default_rng(seed)
    ids = pd.Index([f"b{i:02d}" for i in range(N)], name="bird")
    song = pd.DataFrame(7.0 * np.eye(3)[SPECIES] + rng.normal(size=(N, 3)), index=ids, columns=["low", "mid", "high"])
    color = pd.DataFrame(7.0 * np.eye(4)[SPECIES][:, :3] + rng.normal(size=(N, 3)), index=ids, columns=list("rgb"))
    song.iloc[3, 1] = np.nan
    kind = pd.DataFrame({"kind": np.array(["finch", "tit", "wren"])[SPECIES]}, index=ids)
    return {"song": song[np.arange(N) % 5 != 1], "color": color[np.arange(N) % 10 != 2], "kind": kind}


@pytest.fixture
def files(tmp_path):
    return write(tmp_path, birds())


def cluster(*words):
    return run(["cluster", *map(str, words)])


def clusters(path):
    table = pd.read_csv(path, dtype={"bird": "str"}, index_col="bird").sort_index()
    return table["cluster"]


def truth(index):
    return SPECIES[[int(name[1:]) for name in index]]


@pytest.mark.parametrize("method", CLUSTER_METHODS)
def test_every_method_finds_the_species_and_their_number(files, tmp_path, method):
    assert cluster(files["song"], files["color"], "--method", method, "-o", tmp_path / "c.csv") == 0
    found = clusters(tmp_path / "c.csv")
    assert len(found) == N
    kept = found[found >= 0]
    # Most extreme birds are noise to methods of density.
    assert len(kept) == N if CLUSTER_METHODS[method].counts else len(kept) > 0.8 * N
    assert kept.nunique() == 3
    assert adjusted_rand_score(truth(kept.index), kept) > 0.8


def test_the_table_is_that_of_the_estimator(files, tmp_path):
    words = ("--method", "k-means", "-n", 3, "--seed", 4)
    assert cluster(files["song"], files["color"], *words, "-o", tmp_path / "c.csv") == 0
    table = pd.read_csv(tmp_path / "c.csv", dtype={"bird": "str"}, index_col="bird")
    assert list(table.columns) == ["cluster", "views"]
    tables = read_tables({name: birds()[name] for name in ("song", "color")})
    views = TableEncoder(mark_gaps=False).fit_transform(tables)
    expected = MultiViewKMeans(3, random_state=4).fit(views).labels_
    assert table["cluster"][list(views.index)].tolist() == expected.tolist()
    assert (table["views"]["b00"], table["views"]["b01"], table["views"]["b02"]) == ("song color", "color", "song")


@pytest.mark.parametrize("method", CLUSTER_METHODS)
def test_a_saved_model_places_the_same_and_new_samples_with_any_view(files, tmp_path, method, capsys):
    words = ("--method", method, *(("-n", 3) if CLUSTER_METHODS[method].counts else ()))
    model, found = tmp_path / "birds.coview", tmp_path / "c.csv"
    assert cluster(files["song"], files["color"], *words, "-o", found, "-m", model) == 0
    assert f"the model to {model}" in capsys.readouterr().err
    (tmp_path / "new").mkdir()
    new = write(tmp_path / "new", {"color": birds(seed=7)["color"]})
    for data in ((files["song"], files["color"]), (new["color"],)):
        assert run(["predict", "-m", str(model), *map(str, data), "-o", str(tmp_path / "p.csv"), "--force"]) == 0
        placed = clusters(tmp_path / "p.csv")
        kept = placed[placed >= 0]
        assert len(kept) > 0.6 * len(placed)
        assert adjusted_rand_score(truth(kept.index), kept) > 0.8
    told = load_model(model)
    assert (told.record["task"], told.record["method"]) == ("clustering", method)
    first = model.read_bytes()
    assert cluster(files["song"], files["color"], *words, "-o", found, "-m", model, "--force") == 0
    assert model.read_bytes() == first


def test_one_cluster_of_everything_and_labels_of_few_are_said_as_they_matter_here(tmp_path, capsys):
    ids = pd.Index([f"b{i:02d}" for i in range(N)], name="bird")
    files = write(tmp_path, {
        "song": pd.DataFrame(np.ones((N, 2)), index=ids, columns=["low", "high"]),
        "kind": pd.DataFrame({"kind": ["owl", *np.array(["finch", "tit", "wren"])[SPECIES][1:]]}, index=ids),
    })  # fmt: skip
    words = ("--labels", files["kind"], "--target", "kind", "--method", "dbscan", "-o", tmp_path / "c.csv")
    assert cluster(files["song"], *words) == 0
    said = capsys.readouterr().err
    assert "the 60 samples are one cluster, or noise, and no others tell dense regions apart" in said
    ring = pd.DataFrame({"a": np.cos(np.arange(N)), "b": np.sin(np.arange(N))}, index=ids)
    ring += np.random.default_rng(0).normal(scale=0.1, size=ring.shape)
    assert cluster(write(tmp_path, {"ring": ring})["ring"], *words, "--force") == 0
    assert "so those were taken whose clusters say most (quantile 0." in capsys.readouterr().err
    assert "cross-validation" not in said
    assert "against 'kind' (60 samples)" in said


@pytest.mark.parametrize("method", ["spectral", "network-fusion", "k-means", "dbscan"])
def test_a_saved_model_of_words_weighs_new_ones_alike(tmp_path, method):
    words = ("-n", 2) if CLUSTER_METHODS[method].counts else ()
    paths = [tmp_path / "page.npz", tmp_path / "links.npz"]
    for number, path in enumerate(paths):
        words_of(path, number)
    out = ("-o", tmp_path / "c.csv", "-m", tmp_path / "m.coview")
    assert cluster(*paths, "--method", method, *words, *out) == 0
    assert run(["predict", "-m", str(tmp_path / "m.coview"), *map(str, paths), "-o", str(tmp_path / "p.csv")]) == 0
    found, placed = (pd.read_csv(tmp_path / name)["cluster"] for name in ("c.csv", "p.csv"))
    assert (found == placed).mean() > 0.95
    if method != "dbscan":
        assert adjusted_rand_score(np.arange(80) % 2, placed) > 0.9


def words_of(path, seed):
    """Write counts of 300 words in 80 texts on two topics."""
    rng = np.random.default_rng(seed)
    rates = 0.05 + np.where((np.arange(300) % 2)[None] == (np.arange(80) % 2)[:, None], 0.3, 0.0)
    table = sparse.csr_matrix(rng.poisson(rates).astype(float))
    parts = {"data": table.data, "indices": table.indices, "indptr": table.indptr, "shape": table.shape}
    np.savez(path, **parts, format=np.array("csr"), ids=np.array([f"d{i}" for i in range(80)]))


def test_a_model_of_clusters_is_none_for_other_commands(files, tmp_path, capsys):
    model = tmp_path / "m.coview"
    assert cluster(files["song"], files["color"], "-n", 3, "-m", model, "-o", tmp_path / "c.csv") == 0
    assert run(["report", str(model)]) == 1
    assert "coview cluster writes with the clusters: give it --report FILE" in capsys.readouterr().err
    words = ["--target", "kind", "--labels", str(files["kind"])]
    assert run(["new", str(tmp_path / "c.covw"), str(files["song"]), *words, "-m", str(model)]) == 1
    assert "is no model for classification" in capsys.readouterr().err
    assert cluster(files["song"], files["color"], "-n", 3, "-m", model, "-o", tmp_path / "d.csv") == 1
    assert "--force" in capsys.readouterr().err


def test_csv_on_stdout_is_all_that_stands_there_and_is_the_same_again(files, capsys):
    outputs = []
    for _ in range(2):
        assert cluster(files["song"], files["color"]) == 0
        captured = capsys.readouterr()
        outputs.append(captured.out)
        assert captured.out.splitlines()[0] == "bird,cluster,views"
        assert len(captured.out.splitlines()) == N + 1
        assert "3 clusters by spectral" in captured.err
        assert "number of clusters by the largest eigengap: 3 " in captured.err
    assert outputs[0] == outputs[1]


def test_json_has_the_samples_the_sizes_and_what_the_number_rests_on(files, capsys):
    assert cluster(files["song"], files["color"], "--method", "k-means", "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["command"], answer["n_samples"], answer["n_clusters"]) == ("cluster", N, 3)
    assert answer["n_clusters_by"] == "eigengap"
    assert max(answer["eigengaps"], key=answer["eigengaps"].get) == "3"
    assert sum(answer["sizes"].values()) == N
    assert len(answer["clusters"]) == N
    assert set(answer["clusters"][0]) == {"bird", "cluster", "views"}
    assert set(answer["agreement"]) == {"all views", "song", "color"}
    assert answer["agreement"]["all views"]["song"] > 0.8
    assert answer["labels"] is None


def test_a_number_given_is_taken_and_said_to_be(files, tmp_path, capsys):
    words = (files["song"], files["color"], "-n", 2, "--method", "bregman-tree", "-o", tmp_path / "c.csv", "--json")
    assert cluster(*words) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["n_clusters"], answer["n_clusters_by"], answer["eigengaps"]) == (2, "given", None)
    assert clusters(tmp_path / "c.csv").nunique() == 2


def test_known_labels_are_no_features_and_are_compared_with(files, capsys):
    words = (files["song"], files["color"], "--method", "k-means", "--json")
    assert cluster(*words) == 0
    without = json.loads(capsys.readouterr().out)
    assert cluster(*words, "--labels", files["kind"], "--target", "kind") == 0
    captured = capsys.readouterr()
    answer = json.loads(captured.out)
    assert answer["clusters"] == without["clusters"]
    assert answer["labels"]["target"] == "kind"
    assert answer["labels"]["n_labeled"] == N
    assert answer["labels"]["adjusted_rand"] > 0.9
    assert answer["labels"]["entropy_bits"] < 0.2
    assert answer["labels"]["entropy_bits_without_clusters"] == pytest.approx(np.log2(3))


def test_the_tree_is_written_with_the_names_of_the_samples(files, tmp_path, capsys):
    words = (files["song"], files["color"], "--method", "hybrid-tree", "-n", 3, "-o", tmp_path / "c.csv")
    assert cluster(*words, "--newick", tmp_path / "t.nwk") == 0
    assert f"the tree to {tmp_path / 't.nwk'}" in capsys.readouterr().err
    views = TableEncoder(mark_gaps=False).fit_transform(
        read_tables({name: birds()[name] for name in ("song", "color")})
    )
    model = HybridHierarchicalClustering(3, random_state=0).fit(views)
    assert (tmp_path / "t.nwk").read_text(encoding="utf-8") == model.to_newick(list(views.index)) + "\n"


def test_the_page_is_written_with_everything_known(files, tmp_path, capsys):
    words = (files["song"], files["color"], "--labels", files["kind"], "--target", "kind", "--method", "hybrid-tree")
    outputs = ("-o", tmp_path / "c.csv", "--report", tmp_path / "r.html")
    assert cluster(*words, *outputs) == 0
    assert f"the page to {tmp_path / 'r.html'}" in capsys.readouterr().err
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<h1>3 clusters of 60 samples</h1>" in page
    for title in ("Against kind", "The tree", "How far the views agree", "Why so many clusters"):
        assert title in page
    assert str(tmp_path) not in page
    assert "coview cluster song.csv color.csv --labels kind.csv --target kind --method hybrid-tree -o FILE" in page
    assert cluster(*words, *outputs, "--force") == 0
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == page


def test_a_row_without_any_value_is_left_empty(tmp_path, capsys):
    tables = birds()
    tables["color"] = tables["color"].drop(index="b00")
    tables["song"].loc["b00"] = np.nan
    paths = write(tmp_path, tables)
    assert cluster(paths["song"], paths["color"], "--method", "k-means", "-n", 3, "-o", tmp_path / "c.csv") == 0
    found = clusters(tmp_path / "c.csv")
    assert np.isnan(found["b00"])
    assert found.notna().sum() == N - 1
    assert "1 have no view and were left empty" in capsys.readouterr().err
    assert cluster(paths["song"], paths["color"], "--method", "k-means", "-n", 3, "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["without_view"] == ["b00"]
    assert next(row for row in answer["clusters"] if row["bird"] == "b00")["cluster"] is None


def test_gaps_make_no_cluster_of_their_own(tmp_path):
    """Birds with a gap in their song belong to their species and not to each other."""
    tables = birds()
    tables["song"].iloc[::2, 0] = np.nan
    paths = write(tmp_path, tables)
    assert cluster(paths["song"], paths["color"], "--method", "k-means", "-n", 3, "-o", tmp_path / "c.csv") == 0
    found = clusters(tmp_path / "c.csv")
    assert adjusted_rand_score(truth(found.index), found) > 0.8


def test_one_view_alone_is_clustered_too(files, tmp_path, capsys):
    assert cluster(files["song"], "-o", tmp_path / "c.csv", "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["agreement"] is None
    assert adjusted_rand_score(truth(clusters(tmp_path / "c.csv").index), clusters(tmp_path / "c.csv")) > 0.8


@pytest.mark.parametrize("method", ["spectral", "k-means", "network-fusion", "dbscan"])
def test_sparse_views_of_words_stay_sparse(tmp_path, method):
    rng = np.random.default_rng(0)
    paths = []
    for name in ("page", "links"):
        words = rng.poisson(0.1 + 3.0 * np.repeat(np.eye(3)[SPECIES], 5, axis=1))
        paths.append(tmp_path / f"{name}.npz")
        table = sparse.csr_matrix(words.astype(float))
        parts = {"data": table.data, "indices": table.indices, "indptr": table.indptr, "shape": table.shape}
        np.savez(paths[-1], **parts, format=np.array("csr"), ids=np.array([f"d{i}" for i in range(N)]))
    words = ("--view", f"page={paths[0]}", "--view", f"links={paths[1]}", "--method", method)
    assert cluster(*words, "-o", tmp_path / "c.csv") == 0
    found = pd.read_csv(tmp_path / "c.csv")["cluster"].to_numpy()
    assert adjusted_rand_score(SPECIES[found >= 0], found[found >= 0]) > 0.8
    assert cluster(*words[:4], "--method", "hybrid-tree", "-o", tmp_path / "t.csv") == 1


def test_rare_words_do_not_decide(tmp_path):
    """Every document has a word of its own; standardized, that word would outweigh those that tell the topics apart."""
    rng = np.random.default_rng(0)
    topics = rng.poisson(0.3 + 1.5 * np.repeat(np.eye(3)[SPECIES], 4, axis=1))
    words = sparse.csr_matrix(np.hstack([topics, np.eye(N)]).astype(float))
    parts = {"data": words.data, "indices": words.indices, "indptr": words.indptr, "shape": words.shape}
    np.savez(tmp_path / "page.npz", **parts, format=np.array("csr"), ids=np.array([f"d{i}" for i in range(N)]))
    assert cluster(tmp_path / "page.npz", "--method", "k-means", "-n", 3, "-o", tmp_path / "c.csv") == 0
    assert adjusted_rand_score(SPECIES, pd.read_csv(tmp_path / "c.csv")["cluster"]) > 0.7


def test_methods_that_do_not_fit_say_why(tmp_path, capsys):
    sparse.save_npz(tmp_path / "words.npz", sparse.csr_matrix(np.eye(12)))
    assert cluster(tmp_path / "words.npz", "--method", "list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(CLUSTER_METHODS)
    assert [line.split()[0] for line in lines[-2:]] == ["hybrid-tree", "bregman-tree"]
    assert "not here: view 'words' is sparse" in lines[-1]
    assert cluster(tmp_path / "words.npz", "--method", "hybrid-tree") == 1
    said = capsys.readouterr().err
    assert "Method 'hybrid-tree' does not fit these data: view 'words' is sparse" in said
    assert "--method list" in said


def test_what_compares_all_pairs_is_for_so_many_samples():
    facts = ClusterFacts(6000, 6000, {"song": 3, "color": 3})
    objections = {name: method.objection(facts) for name, method in CLUSTER_METHODS.items()}
    assert {name for name, objection in objections.items() if objection is None} == {
        "spectral", "k-means", "dbscan", "dbscan-intersection"
    }  # fmt: skip
    assert "5,000" in objections["network-fusion"]
    assert CLUSTER_METHODS["spectral"].make(facts, 3, 0).n_landmarks == 1000
    apart = ClusterFacts(20, 0, {"song": 3, "color": 3})
    assert "no sample has two views" in CLUSTER_METHODS["spectral"].objection(apart)


def test_the_list_without_data_and_as_json(capsys):
    assert cluster("--method", "list", "--json") == 0
    listed = json.loads(capsys.readouterr().out)["methods"]
    assert [method["name"] for method in listed] == list(CLUSTER_METHODS)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--method", "kmeans"], "there is no method 'kmeans'"),
        (["--method", "dbscan", "-n", "3"], "finds the number of clusters itself"),
        (["--method", "k-means", "--newick", "t.nwk"], "hybrid-tree and bregman-tree do"),
        (["--format", "parquet"], "not text for stdout"),
        (["--json", "--format", "csv"], "give one"),
        (["--force"], "none is named"),
        (["--method", "hybrid-tree", "-o", "same", "--newick", "same"], "Two outputs have the same name"),
        (["-n", "0"], "--n-clusters"),
    ],
)
def test_misuse(files, capsys, words, said):
    assert cluster(files["song"], files["color"], *words) == 2
    assert said in capsys.readouterr().err


def test_without_data_it_is_misuse(capsys):
    assert cluster() == 2
    assert "Name the data" in capsys.readouterr().err


def test_more_clusters_than_samples_is_an_error_and_leaves_no_file(files, tmp_path, capsys):
    assert cluster(files["song"], files["color"], "-n", N + 1, "-o", tmp_path / "c.csv") == 1
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert f"n_clusters={N + 1}" in said
    assert not (tmp_path / "c.csv").exists()


def test_two_samples_are_too_few_to_choose_a_number(tmp_path, capsys):
    paths = write(tmp_path, {name: birds()[name].loc[["b00", "b03"]] for name in ("song", "color")})
    assert cluster(paths["song"], paths["color"], "--method", "k-means") == 1
    assert (
        "With 2 samples nothing speaks for a number of clusters. Give it with --n-clusters." in capsys.readouterr().err
    )
    assert cluster(paths["song"], paths["color"], "--method", "k-means", "-n", 2, "-o", tmp_path / "c.csv") == 0
    assert clusters(tmp_path / "c.csv").tolist() == [0, 1]


def test_an_existing_file_is_kept_unless_forced(files, tmp_path, capsys):
    (tmp_path / "c.csv").write_text("mine")
    words = (files["song"], files["color"], "--method", "k-means", "-o", tmp_path / "c.csv")
    assert cluster(*words) == 1
    assert "--force" in capsys.readouterr().err
    assert (tmp_path / "c.csv").read_text() == "mine"
    assert cluster(*words, "--force") == 0
    assert len(clusters(tmp_path / "c.csv")) == N


def test_the_method_is_in_the_help(capsys):
    assert cluster("--help") == 0
    shown = capsys.readouterr().out
    assert "hybrid-tree" in shown
    assert "bayesian-co-training" not in shown


def test_eigengaps_of_a_part_of_many_samples_and_of_too_few():
    views = {name: birds()[name].to_numpy()[:40] for name in ("song", "color")}
    views = {name: np.nan_to_num(block) for name, block in views.items()}
    gaps = eigengaps(views, max_samples=20, random_state=0)
    assert gaps.index.tolist() == list(range(2, 11))
    assert eigengaps(views, max_clusters=4, random_state=0).index.tolist() == [2, 3, 4]
    with pytest.raises(ValueError, match="got 2 samples"):
        eigengaps({"song": views["song"][:2]})


def test_counts_of_words_in_a_table_are_weighed_like_sparse_ones(tmp_path, capsys):
    rng = np.random.default_rng(0)
    ids = pd.Index([f"d{i}" for i in range(N)], name="story")
    paths = []
    for name in ("page", "links"):
        words = rng.poisson(0.03 + 0.4 * np.repeat(np.eye(3)[SPECIES], 30, axis=1))
        words = pd.DataFrame(np.hstack([words, np.eye(N, dtype=int)]), index=ids).add_prefix("w")
        paths.append(tmp_path / f"{name}.csv")
        words.rename(columns={"w7": "id"}).to_csv(paths[-1])
    model, out = tmp_path / "m.coview", tmp_path / "c.csv"
    assert cluster(*paths, "--method", "k-means", "-n", 3, "-o", out, "-m", model) == 0
    said = capsys.readouterr().err
    assert "note: Views 'page', 'links' hold counts, most of them 0: weighed by TF-IDF" in said
    assert "id story (first column, text, all different)" in said
    found = pd.read_csv(out, index_col="story")["cluster"]
    assert adjusted_rand_score(SPECIES, found) > 0.9
    assert run(["predict", "-m", str(model), str(paths[1]), "-o", str(tmp_path / "p.csv")]) == 0
    assert adjusted_rand_score(SPECIES, pd.read_csv(tmp_path / "p.csv")["cluster"]) > 0.7


def test_what_is_wrong_with_the_data_is_said_once(files, tmp_path, capsys):
    twice = pd.read_csv(files["song"])
    twice.iloc[[0, *range(len(twice))]].to_csv(tmp_path / "song.csv", index=False)
    assert cluster(tmp_path / "song.csv", files["color"], "--id", "bird") == 1
    assert capsys.readouterr().err.count("has several rows for") == 1


def test_samples_too_much_alike_suggest_no_number(files, capsys):
    assert cluster(files["kind"]) == 1
    assert "suggest no number of clusters" in (said := capsys.readouterr().err)
    assert "--n-clusters" in said
    assert "n_clusters=11" not in said
    assert cluster(files["kind"], "-n", 3) == 0


def test_a_class_among_the_measurements_is_asked_about(files, capsys):
    assert cluster(files["song"], files["kind"], "-n", 3) == 0
    assert "Column 'kind' of 'kind' holds categories and counts as a feature." in capsys.readouterr().err
    assert cluster(files["song"], files["kind"], "--target", "kind", "-n", 3) == 0
    assert "counts as a feature" not in capsys.readouterr().err
