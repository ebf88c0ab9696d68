"""What inspection says of models whose answer is known."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from coview import Views
from coview.gaussian_process import BayesianCoTrainingClassifier, BayesianCoTrainingRegressor
from coview.inspection import (
    consensus_embedding,
    feature_associations,
    leading_contributions,
    measurement_reasons,
    neighbor_agreement,
)


def planted(n=60, classes=("no", "yes"), as_sparse=False, seed=0):
    """Feature 2 of view "signal" tells the class; view "noise", missing for a quarter, tells nothing."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % len(classes)
    signal = rng.normal(size=(n, 5))
    signal[:, 2] = 3.0 * codes + 0.3 * rng.normal(size=n)
    noise = rng.normal(size=(n, 4))
    presence = np.ones((n, 2), dtype=bool)
    presence[::4, 1] = False
    frames = {
        "signal": sparse.csr_array(signal) if as_sparse else pd.DataFrame(signal, columns=[*"abXde"]),
        "noise": noise,
    }
    ids = [f"s{i}" for i in range(n)]
    if not as_sparse:
        frames = {
            "signal": frames["signal"].set_index(pd.Index(ids)),
            "noise": pd.DataFrame(noise, columns=[*"pqrs"], index=ids)[presence[:, 1]],
        }
        views = Views(frames)
    else:
        views = Views(frames, presence=presence)
    return views, np.array(classes, dtype=object)[codes]


def fitted(views, y, labeled=30):
    partly = y.copy()
    partly[labeled:] = None
    return BayesianCoTrainingClassifier(random_state=0).fit(views, partly)


@pytest.fixture(scope="module")
def binary():
    views, y = planted()
    return views, y, fitted(views, y)


@pytest.fixture(scope="module")
def three():
    views, y = planted(classes=("low", "mid", "top"))
    return views, y, fitted(views, y)


def test_the_planted_feature_comes_first_and_speaks_for_the_second_class(binary):
    views, _, model = binary
    table = feature_associations(model, views, n_top=3)
    assert table.columns.tolist() == ["view", "feature", "association"]
    assert table["view"].tolist() == ["signal"] * 3 + ["noise"] * 3
    first = table.iloc[0]
    assert first["feature"] == "X"
    assert first["association"] > 0.9
    sizes = table.groupby("view", sort=False)["association"].apply(lambda part: part.abs().is_monotonic_decreasing)
    assert sizes.all()


def test_an_association_is_the_correlation_over_the_samples_that_have_the_view(binary):
    views, _, model = binary
    explained = model.explain(views)
    rows = views.rows("noise")
    table = feature_associations(model, views, n_top=4).query("view == 'noise'").set_index("feature")["association"]
    for j, feature in enumerate("pqrs"):
        assert table[feature] == pytest.approx(np.corrcoef(views["noise"][:, j], explained["noise"][rows])[0, 1])


def test_more_classes_have_one_association_each(three):
    views, _, model = three
    table = feature_associations(model, views, n_top=2)
    assert table.groupby("view").size().to_dict() == {"signal": 6, "noise": 6}
    top = table.head(3)
    assert top["class"].tolist() == ["low", "mid", "top"]
    assert (top["feature"] == "X").all()
    assert top["association"].iloc[0] < -0.5 < 0.5 < top["association"].iloc[2]


def test_sparse_views_give_what_dense_ones_give():
    views, y = planted(as_sparse=True)
    dense = Views({name: views[name].toarray() if name == "signal" else views.to_frame(name) for name in views.names})
    model = fitted(views, y)
    sparsely = feature_associations(model, views, n_top=5)
    same_part = feature_associations(_Explained(model.explain(views)), dense, n_top=5)
    pd.testing.assert_frame_equal(sparsely, same_part)
    assert sparsely["feature"].iloc[0] == "2"


class _Explained:
    """A model that explains as it was told to."""

    def __init__(self, table):
        self.table = table

    def explain(self, X):
        return self.table


def test_columns_and_parts_that_do_not_vary_are_left_out(binary):
    views, _, model = binary
    constant = Views({"signal": views.to_frame("signal").assign(b=7.0), "noise": views.to_frame("noise").dropna()})
    table = feature_associations(_Explained(model.explain(views).assign(noise=0.25)), constant)
    assert table["feature"].tolist()[0] == "X"
    assert set(table["feature"]) == {"a", "X", "d", "e"}


def test_a_choice_of_samples_is_the_same_every_time(binary):
    views, _, model = binary
    table = feature_associations(model, views, n_top=1, max_samples=20)
    pd.testing.assert_frame_equal(table, feature_associations(model, views, n_top=1, max_samples=20))
    assert table["association"].iloc[0] != feature_associations(model, views, n_top=1)["association"].iloc[0]


def test_views_named_like_other_columns_keep_their_parts():
    views, y = planted()
    renamed = Views({"bias": views.to_frame("signal"), "class": views.to_frame("noise").dropna()})
    table = feature_associations(fitted(renamed, y), renamed, n_top=1)
    assert table["view"].tolist() == ["bias", "class"]
    assert table["feature"].iloc[0] == "X"


def test_contributions_add_up_to_the_difference_of_the_two_leading_classes(three):
    views, _, model = three
    proba = model.predict_proba(views)
    table = leading_contributions(model, views, proba)
    latent = model.predict_latent(views)
    order = np.argsort(-proba, axis=1)
    rows = np.arange(views.n_samples)
    assert (table["first"].to_numpy() == model.classes_[order[:, 0]]).all()
    np.testing.assert_allclose(table["p_second"], proba[rows, order[:, 1]])
    np.testing.assert_allclose(
        table[["constant", "signal", "noise", "together"]].sum(axis=1),
        latent[rows, order[:, 0]] - latent[rows, order[:, 1]],
        atol=1e-8,
    )


def test_with_two_classes_a_sign_means_the_same_for_every_sample(binary):
    views, _, model = binary
    proba = model.predict_proba(views)
    table = leading_contributions(model, views, proba)
    total = table[["constant", "signal", "noise", "together"]].sum(axis=1)
    np.testing.assert_allclose(total, model.predict_latent(views), atol=1e-8)
    assert set(table["first"]) == {"yes"}
    np.testing.assert_array_equal(table["p_first"], proba[:, 1])
    np.testing.assert_array_equal(table["p_second"], proba[:, 0])


def test_small_pushes_are_summed_and_odd_names_kept_apart():
    rng = np.random.default_rng(0)
    names = ["first", "b", "together", "d"]
    views = Views({name: pd.DataFrame(rng.normal(size=(20, 2)), index=[*"abcdefghijklmnopqrst"]) for name in names})
    model = BayesianCoTrainingRegressor(random_state=0).fit(views, views["b"][:, 0])
    whole = leading_contributions(model, views)
    assert whole.columns.tolist() == ["constant", "first (view)", "b", "together (view)", "d", "together"]
    short = leading_contributions(model, views, max_views=2)
    assert short.shape[1] == 5
    assert "b" in short
    assert "other views" in short
    np.testing.assert_allclose(short.sum(axis=1), whole.sum(axis=1))


def test_parts_of_a_regression_add_up_to_the_prediction():
    views, _ = planted()
    model = BayesianCoTrainingRegressor(random_state=0).fit(views, views["signal"][:, 2])
    table = leading_contributions(model, views)
    assert table.columns.tolist() == ["constant", "signal", "noise", "together"]
    np.testing.assert_allclose(table.sum(axis=1), model.predict(views), atol=1e-8)


def test_models_that_cannot_be_looked_into_are_refused_by_name(binary):
    views, y, model = binary
    other = LogisticRegression().fit(views["signal"], y.astype(str))
    with pytest.raises(TypeError, match="LogisticRegression does not explain"):
        feature_associations(other, views)
    with pytest.raises(TypeError, match="LogisticRegression gives no similarities"):
        consensus_embedding(other, views)
    with pytest.raises(ValueError, match=r"one row per sample and one column per class, \(60, 2\)"):
        leading_contributions(model, views, np.ones((60, 3)))
    with pytest.raises(ValueError, match="n_top must be at least 1"):
        feature_associations(model, views, n_top=0)
    with pytest.raises(ValueError, match="n_components must be at least 1"):
        consensus_embedding(model, views, n_components=0)
    with pytest.raises(ValueError, match="max_samples must be at least 1"):
        consensus_embedding(model, views, max_samples=0)


def test_an_embedding_has_the_principal_components_of_the_similarity(binary):
    views, _, model = binary
    embedding = consensus_embedding(model, views, n_components=3)
    similarity = model.similarity()
    center = np.eye(60) - 1 / 60
    values = np.linalg.eigvalsh(center @ similarity @ center)[::-1]
    np.testing.assert_allclose(np.square(embedding).sum().to_numpy(), values[:3], rtol=1e-6)
    assert embedding.index.equals(views.index)


def test_a_sample_has_one_place_whatever_others_are_given(binary):
    views, _, model = binary
    everybody = consensus_embedding(model, views)
    np.testing.assert_allclose(consensus_embedding(model, views[7:9]), everybody.iloc[7:9], atol=1e-9)


def test_many_samples_are_thinned_out_and_keep_their_places(binary):
    views, _, model = binary
    thin = consensus_embedding(model, views, max_samples=25)
    assert len(thin) == 25
    assert thin.index.is_unique
    assert thin.index.isin(views.index).all()


def test_classes_that_differ_lie_apart(binary):
    views, y, model = binary
    agreement = neighbor_agreement(consensus_embedding(model, views), y)
    assert agreement["share"] > agreement["chance"] + 0.2
    assert agreement["chance"] == pytest.approx(29 / 59)
    assert agreement["n_labeled"] == 60


def test_neighbors_by_hand():
    places = pd.DataFrame({"component_1": [0.0, 1.0, 2.5, 100.0]})
    agreement = neighbor_agreement(places, ["a", "b", "b", None], n_neighbors=1)
    assert agreement["share"] == pytest.approx(1 / 3)  # 0 -> 1 no; 1 -> 0 no; 2.5 -> 1 yes
    assert agreement["chance"] == pytest.approx(2 / 6)
    assert np.isnan(neighbor_agreement(places, ["a", None, None, None])["share"])


def ranking(*pairs):
    return pd.DataFrame(pairs, columns=["sample", "view"])


def test_reasons_tell_what_is_known_of_the_sample_and_how_far_the_view_is_trusted(binary):
    views, y, model = binary
    labeled = np.arange(len(y)) < 30
    first, second = measurement_reasons(model, views, labeled, ranking(("s4", "noise"), ("s32", "noise")))
    share = model.view_trust_.loc["noise", "share"]
    assert first == f"labeled, shows what noise tells (trusted {share:.2f})"
    probabilities = model.predict_proba(views[[32]])[0]
    doubt = "uncertain, " if probabilities.max() < 0.75 else ""
    assert second == f"{doubt}{y[32]} {probabilities.max():.2f}; noise trusted {share:.2f}"


def test_reasons_of_samples_without_ids_and_of_models_without_classes_or_trust():
    views = Views({"a": np.zeros((3, 1)), "b": np.array([[0.0], [np.nan], [np.nan]])})
    known = [True, True, False]
    assert measurement_reasons(object(), views, known, ranking((1, "b"), (2, "b"))) == [
        "labeled, shows what b tells",
        "no label",
    ]
    assert measurement_reasons(object(), views, known, ranking()) == []
