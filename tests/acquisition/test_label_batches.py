"""Batches of labels: information together by dense algebra, no near-copies, what is booked counts."""

import numpy as np
import pytest
from numpy.linalg import slogdet
from scipy.special import expit

from coview import Views
from coview.acquisition import Campaign, label_utilities
from coview.gaussian_process import BayesianCoTrainingClassifier, BayesianCoTrainingRegressor

from .small_problems import fixed, problem
from .test_against_brute_force import Dense, data, model


@pytest.mark.parametrize("latent", ["mean", "consensus"])
@pytest.mark.parametrize("approximation", ["exact", "low_rank"])
def test_labels_of_a_batch_tell_together_what_dense_algebra_says(latent, approximation):
    tables, presence, codes, labeled = data(1)
    dense = Dense(tables, presence, of_mean=latent == "mean")
    S = dense.covariance(dense.mode(2.0 * codes - 1.0, labeled))
    views = Views(tables, names=[f"v{j}" for j in range(4)], presence=presence)
    y = np.where(labeled, codes, np.nan)
    estimator = model(latent, approximation=approximation).fit(views, y)
    pi = expit(np.ravel(estimator.latent_mean_))
    root = np.sqrt(pi * (1.0 - pi))

    def together(rows):
        return 0.5 * slogdet(np.eye(len(rows)) + root[rows][:, None] * S[np.ix_(rows, rows)] * root[rows])[1]

    held = Campaign(estimator, views, y)
    batch = held.ask(5, kind="labels")
    chosen, told = batch["sample"].tolist(), np.cumsum(batch["utility"])
    for k in range(1, 6):
        np.testing.assert_allclose(told[k - 1], together(chosen[:k]), rtol=1e-4)
        rest = [row for row in np.flatnonzero(~labeled) if row not in chosen[: k - 1]]
        best = max(together([*chosen[: k - 1], row]) for row in rest)  # greedy
        np.testing.assert_allclose(together(chosen[:k]), best, rtol=1e-6)
    for sample in chosen[:2]:
        held.book(sample)
    again = held.ask(3, kind="labels")
    assert again["sample"].tolist() == chosen[2:]
    np.testing.assert_allclose(again["utility"], batch["utility"][2:], rtol=1e-10)


def test_copies_are_not_labeled_twice():
    rng = np.random.default_rng(0)
    a = np.repeat(rng.normal(size=(6, 2)), 3, axis=0)  # three copies of each
    y = np.full(18, -1)
    y[[0, 3]] = 0, 1
    held = Campaign(fixed(kernel="rbf", view_variances=0.1, amplitude=30.0), {"a": a, "b": a + 1.0}, y)
    batch = held.ask(3, kind="labels")["sample"] // 3
    assert batch.is_unique
    ranked = label_utilities(held.model, held.views, y)["sample"].head(3) // 3
    assert not ranked.is_unique  # one by one it would be


@pytest.mark.parametrize(
    ("estimator", "n_classes"),
    [
        (BayesianCoTrainingClassifier(), 2),
        (BayesianCoTrainingClassifier(), 3),
        (BayesianCoTrainingRegressor(), 2),
        (fixed("mean", approximation="low_rank"), 3),
    ],
)
def test_the_first_label_is_that_of_label_utilities_and_information_falls(estimator, n_classes):
    views, y, _ = problem(n=30, n_labels=9, n_classes=n_classes)
    held = Campaign(estimator, views, y, criterion="variance")
    batch = held.ask(8, kind="labels")
    alone = label_utilities(held.model, views, y).set_index("sample")["utility"]
    np.testing.assert_allclose(batch["utility"][0], alone.max(), rtol=1e-10)
    assert (batch["utility"] <= alone[batch["sample"]].to_numpy() + 1e-12).all()
    assert (np.diff(batch["utility"]) <= 1e-12).all()
    assert (batch["utility"] > 0.0).all()
    both = held.ask(30, 9, kind="both")
    assert both["sample"][both["query"] == "label"].is_unique


def test_samples_without_views_tell_nothing():
    rng = np.random.default_rng(0)
    presence = np.ones((12, 2), dtype=bool)
    presence[11] = False
    views = Views([rng.normal(size=(12, 2)), rng.normal(size=(12, 1))], presence=presence)
    y = np.where(np.arange(12) < 4, np.arange(12) % 2, -1)
    table = Campaign(fixed(kernel="rbf", no_view="prior"), views, y).ask(20, kind="labels")
    assert table["sample"].iloc[-1] == 11
    assert table["utility"].iloc[-1] == 0.0


def test_models_without_features_of_each_view_rank_labels_once(monkeypatch):
    views, y, _ = problem()
    held = Campaign(fixed(), views, y)
    expected = label_utilities(held.model, views, y)

    def refuse(self, *, features=False):
        if features:
            raise ValueError("All settings join the views before any kernel")
        return posterior(self)

    posterior = BayesianCoTrainingClassifier.consensus_posterior
    monkeypatch.setattr(BayesianCoTrainingClassifier, "consensus_posterior", refuse)
    np.testing.assert_allclose(held.ask(4, kind="labels")["utility"], expected["utility"].head(4), rtol=1e-12)


def test_precomputed_kernels():
    rng = np.random.default_rng(0)
    table = rng.standard_normal((12, 2))
    K = table @ table.T + np.eye(12)
    y = np.where(np.arange(12) < 4, np.arange(12) % 2, -1)
    held = Campaign(BayesianCoTrainingClassifier("precomputed", hyperparameters="fixed"), {"a": K, "b": K}, y)
    batch = held.ask(3, kind="labels")
    alone = label_utilities(held.model, held.views, y)
    np.testing.assert_allclose(batch["utility"][0], alone["utility"].max(), rtol=1e-12)
    assert batch["utility"].is_monotonic_decreasing
