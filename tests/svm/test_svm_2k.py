"""SVM-2K against scikit-learn's machines, a general solver, and its own special cases."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.gaussian_process.kernels import RBF
from sklearn.svm import SVC

from coview import Views
from coview.exceptions import ViewError
from coview.inference import TiedMachines
from coview.persistence import load_model, save_model
from coview.svm import SVM2K


def draw(n=40, n_views=2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    return [0.7 * y[:, None] + rng.normal(size=(n, 2 + v)) for v in range(n_views)], y


def primal(machines, signs, labeled, solution):
    """The primal objective of a solution, from its functions alone."""
    P = machines.presence
    f = np.full(P.shape, np.nan)
    total = 0.0
    for v, (K, a) in enumerate(zip(machines.grams, solution.dual, strict=True)):
        f[P[:, v], v] = K @ a + solution.intercepts[v]
        rows = P[:, v] & labeled
        total += 0.5 * a @ K @ a + machines.costs[v] * np.maximum(0.0, 1.0 - signs[rows] * f[rows, v]).sum()
    for v in range(P.shape[1]):
        for w in range(v):
            apart = np.abs(f[:, v] - f[:, w])[P[:, v] & P[:, w]]
            total += machines.tie * np.maximum(0.0, apart - machines.epsilon).sum()
    return total


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_without_ties_it_is_two_machines_of_scikit_learn(C):
    blocks, y = draw()
    model = SVM2K([RBF(1.0), "linear"], C=C, D=0.0).fit(blocks, y)
    alone = [SVC(C=C, gamma=0.5, tol=1e-12), SVC(C=C, kernel="linear", tol=1e-12)]
    for scores, block, machine in zip(model.decision_function_per_view(blocks), blocks, alone, strict=True):
        np.testing.assert_allclose(scores, machine.fit(block, y).decision_function(block), atol=1e-5)


def test_one_view_is_a_support_vector_machine():
    blocks, y = draw(n_views=1)
    model = SVM2K(RBF(1.0)).fit(blocks[0], y)
    expected = SVC(gamma=0.5, tol=1e-12).fit(blocks[0], y).decision_function(blocks[0])
    np.testing.assert_allclose(model.decision_function(blocks[0]), expected, atol=1e-6)


@pytest.mark.parametrize("epsilon", [0.0, 0.2])
@pytest.mark.parametrize("n_views", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_the_primal_has_no_gap_with_missing_views_and_labels(seed, n_views, epsilon):
    """Weak duality: a primal value equal to the dual one proves both optimal."""
    rng = np.random.default_rng(seed)
    blocks, y = draw(30, n_views, seed)
    presence = rng.random((30, n_views)) < 0.8
    presence[~presence.any(axis=1), 0] = True
    labeled = rng.random(30) < 0.6
    grams = [RBF(1.5)(block[rows]) for block, rows in zip(blocks, presence.T, strict=True)]
    machines = TiedMachines(grams, presence, np.linspace(0.5, 2.0, n_views), 0.4, epsilon)
    solution = machines.solve(y.astype(float), labeled)
    np.testing.assert_allclose(primal(machines, y, labeled, solution), solution.objective, rtol=1e-8)
    for a in solution.dual:
        assert abs(a.sum()) < 1e-9


def test_a_general_solver_finds_nothing_better():
    blocks, y = draw(12)
    grams = [block @ block.T for block in blocks]
    machines = TiedMachines(grams, np.ones((12, 2), dtype=bool), np.array([1.0, 0.5]), 0.7, 0.05)
    labeled = np.ones(12, dtype=bool)
    best = machines.solve(y.astype(float), labeled)

    def smooth(w):  # nowhere below the optimum
        f = [blocks[0] @ w[:2] + w[2], blocks[1] @ w[3:6] + w[6]]
        hinge = [c * np.maximum(0, 1 - y * g).sum() for c, g in zip((1.0, 0.5), f, strict=True)]
        return (
            0.5 * w[:2] @ w[:2]
            + 0.5 * w[3:6] @ w[3:6]
            + sum(hinge)
            + 0.7 * np.maximum(0, np.abs(f[0] - f[1]) - 0.05).sum()
        )

    point = np.zeros(7)
    for _ in range(10):  # restarts free the simplex from kinks
        found = minimize(smooth, point, method="Nelder-Mead", options={"maxiter": 4000, "maxfev": 4000})
        point = found.x
    assert best.objective <= found.fun + 1e-9
    assert found.fun < 1.02 * best.objective


def test_stronger_ties_bring_the_views_together():
    blocks, y = draw(60, seed=1)
    apart = []
    for D in (0.0, 0.1, 1.0, 100.0):
        f = SVM2K("rbf", D=D, epsilon=0.0, probability=False).fit(blocks, y).decision_function_per_view(blocks)
        apart.append(np.abs(f[0] - f[1]).sum())
    assert np.all(np.diff(apart) < 1e-9)
    assert apart[-1] < 1e-5


def test_views_missing_at_prediction_leave_the_score_of_the_other():
    blocks, y = draw()
    model = SVM2K("rbf", random_state=0).fit({"a": blocks[0], "b": blocks[1]}, y)
    per_view = model.decision_function_per_view({"a": blocks[0], "b": blocks[1]})
    np.testing.assert_array_equal(model.decision_function({"b": blocks[1]}), per_view[1])
    np.testing.assert_array_equal(model.decision_function({"a": blocks[0], "b": blocks[1]}, view="b"), per_view[1])
    only = model.decision_function_per_view({"b": blocks[1]})
    assert np.isnan(only[0]).all()
    np.testing.assert_allclose(model.decision_function(model_views(blocks)), (per_view[0] + per_view[1]) / 2)


def model_views(blocks):
    return Views(dict(zip("ab", blocks, strict=True)))


def test_more_classes_are_one_against_the_rest():
    blocks, y = draw(45)
    y = np.array(["x", "y", "z"])[np.arange(45) % 3]
    model = SVM2K("rbf", random_state=0).fit(blocks, y)
    scores = model.decision_function(blocks)
    for k, label in enumerate(model.classes_):
        binary = SVM2K("rbf", random_state=0).fit(blocks, y == label)
        np.testing.assert_allclose(scores[:, k], binary.decision_function(blocks), atol=1e-6)
    np.testing.assert_array_equal(model.predict(blocks), model.classes_[scores.argmax(axis=1)])
    assert [part.shape for part in model.decision_function_per_view(blocks)] == [(45, 3), (45, 3)]
    np.testing.assert_allclose(model.predict_proba(blocks).sum(axis=1), 1.0)


def test_one_class_is_refused():
    blocks, y = draw()
    with pytest.raises(ValueError, match="class"):
        SVM2K().fit(blocks, np.ones_like(y))
    with pytest.raises(ValueError, match="one class"):
        SVM2K(classes=[-1, 1]).fit(blocks, np.ones_like(y))


def test_a_view_without_labels_learns_through_the_ties():
    blocks, y = draw(60)
    target = y.astype(object)
    target[:30] = None
    presence = np.ones((60, 2), dtype=bool)
    presence[30:, 1] = False
    model = SVM2K("rbf", D=1.0).fit(Views(blocks, presence=presence), target)
    assert np.mean(model.predict([blocks[0], blocks[1]], view=model.view_names_[1]) == y) > 0.6
    apart = SVM2K("rbf", D=0.0).fit(Views(blocks, presence=presence), target)
    assert np.isnan(apart.intercepts_[1])
    assert np.isnan(apart.decision_function_per_view(blocks)[1]).all()
    assert np.isfinite(apart.predict_proba(blocks)).all()


def test_a_view_whose_labels_are_of_one_class_is_constant_where_it_is_alone():
    blocks, y = draw(40)
    presence = np.ones((40, 2), dtype=bool)
    presence[y == -1, 1] = False
    model = SVM2K("rbf", D=0.0).fit(Views(blocks, presence=presence), y)
    np.testing.assert_allclose(model.decision_function_per_view(blocks)[1], 1.0)


def test_a_price_of_zero_takes_a_view_out_of_the_losses():
    blocks, y = draw(40)
    model = SVM2K(RBF(1.0), C=(1.0, 0.0), D=1.0, epsilon=0.0).fit(blocks, y)
    assert np.corrcoef(model.decision_function_per_view(blocks))[0, 1] > 0.8


@pytest.mark.parametrize("C", [(1.0,), (1.0, -1.0), (0.0, 0.0), (1.0, np.inf)])
def test_bad_prices_are_refused(C):
    blocks, y = draw()
    with pytest.raises(ValueError, match="C must be"):
        SVM2K(C=C).fit(blocks, y)


def test_a_constant_kernel_and_duplicates_do_no_harm():
    blocks, y = draw(20)
    blocks[1][:] = 0.0
    blocks[0][1] = blocks[0][0]  # contradictory duplicates
    model = SVM2K("linear").fit(blocks, y)
    scores = model.decision_function_per_view(blocks)
    np.testing.assert_allclose(scores[1], scores[1][0])
    assert np.isfinite(model.predict_proba(blocks)).all()


def test_sparse_and_precomputed_agree_with_dense():
    blocks, y = draw()
    new, _ = draw(7, seed=3)
    dense = SVM2K("linear").fit(blocks, y)
    thin = SVM2K("linear").fit([sparse.csr_array(block) for block in blocks], y)
    given = SVM2K("precomputed").fit([block @ block.T for block in blocks], y)
    expected = dense.decision_function(new)
    np.testing.assert_allclose(thin.decision_function([sparse.csr_array(block) for block in new]), expected, atol=1e-8)
    values = [rows @ block.T for rows, block in zip(new, blocks, strict=True)]
    np.testing.assert_allclose(given.decision_function(values), expected, atol=1e-8)


def test_without_views_the_prior_answers():
    blocks, y = draw(30)
    y[:10] = 1
    presence = np.ones((30, 2), dtype=bool)
    model = SVM2K(no_view="prior").fit(Views(blocks, presence=presence), y)
    presence[4] = False
    X = Views(blocks, presence=presence)
    np.testing.assert_allclose(model.predict_proba(X)[4], [np.mean(y == -1), np.mean(y == 1)])
    assert model.predict(X)[4] == 1
    assert np.isnan(model.decision_function(X)[4])
    with pytest.raises(ViewError, match=r"\b4\b"):
        SVM2K().fit(blocks, y).predict(X)


def test_probabilities_come_from_scores_that_did_not_see_the_label():
    """On noise they stay near the shares of the classes, although the machine separates what it saw."""
    rng = np.random.default_rng(0)
    blocks = [rng.normal(size=(60, 40)) for _ in range(2)]
    y = np.arange(60) % 2
    model = SVM2K("linear", C=100.0).fit(blocks, y)
    assert model.score(blocks, y) == 1.0
    assert np.abs(model.predict_proba(blocks) - 0.5).max() < 0.4
    hard = SVM2K("linear", C=100.0, probability=False).fit(blocks, y)
    np.testing.assert_array_equal(np.unique(hard.predict_proba(blocks)), [0.0, 1.0])


def test_saved_and_loaded(tmp_path):
    blocks, y = draw()
    model = SVM2K(["linear", "rbf"]).fit(blocks, y)
    save_model(model, tmp_path / "model.coview")
    np.testing.assert_array_equal(
        load_model(tmp_path / "model.coview").model.predict_proba(blocks), model.predict_proba(blocks)
    )


def fitted_scores(blocks, y, **parameters):
    parameters = {"kernel": RBF(1.5), "C": 0.8, "D": 0.3, "epsilon": 0.05, "probability": False} | parameters
    return np.array(SVM2K(**parameters).fit(blocks, y).decision_function_per_view(blocks))


@pytest.mark.parametrize("seed", range(3))
def test_symmetries(seed):
    """The order of samples and of views means nothing; turned labels turn the functions."""
    blocks, y = draw(36, seed=seed)
    scores = fitted_scores(blocks, y)
    order = np.random.default_rng(seed).permutation(36)
    np.testing.assert_allclose(fitted_scores([b[order] for b in blocks], y[order]), scores[:, order], atol=1e-6)
    np.testing.assert_allclose(fitted_scores(blocks[::-1], y)[::-1], scores, atol=1e-6)
    np.testing.assert_allclose(fitted_scores(blocks, -y), -scores, atol=1e-6)


def test_every_sample_twice_at_half_the_price_is_every_sample_once():
    blocks, y = draw(30)
    twice = fitted_scores([np.vstack([b, b]) for b in blocks], np.concatenate([y, y]), C=0.4, D=0.15)
    np.testing.assert_allclose(twice[:, :30], fitted_scores(blocks, y), atol=1e-6)


@pytest.mark.parametrize("n", [60, 160])
@pytest.mark.parametrize("missing", [False, True])
def test_structured_and_dense_steps_agree(monkeypatch, n, missing):
    """Three views: blocks of the matrix of a step, put together where samples lack views and where they do not."""
    rng = np.random.default_rng(n)
    blocks, y = draw(n, 3)
    presence = rng.random((n, 3)) < 0.7 if missing else np.ones((n, 3), dtype=bool)
    presence[~presence.any(axis=1), 1] = True
    grams = [RBF(1.5)(block[rows]) for block, rows in zip(blocks, presence.T, strict=True)]
    machines = TiedMachines(grams, presence, np.array([0.5, 1.0, 2.0]), 0.3, 0.1)
    answers = []
    for limit in (0, 10_000):
        monkeypatch.setattr("coview.inference._tied_machines._DENSE", limit)
        answers.append(machines.solve(y.astype(float), rng.random(n) < 2.0))
    structured, dense = answers
    np.testing.assert_allclose(structured.objective, dense.objective, rtol=1e-9)
    for K, a, b in zip(grams, structured.dual, dense.dual, strict=True):
        np.testing.assert_allclose(K @ a, K @ b, atol=1e-6)


@pytest.mark.parametrize("missing", [False, True])
def test_kernels_of_low_rank_are_solved_by_their_factors(monkeypatch, missing):
    rng = np.random.default_rng(1)
    blocks, y = draw(200)
    presence = rng.random((200, 2)) < 0.8 if missing else np.ones((200, 2), dtype=bool)
    presence[~presence.any(axis=1), 0] = True
    grams = [block[rows] @ block[rows].T for block, rows in zip(blocks, presence.T, strict=True)]
    labeled = rng.random(200) < 0.7
    machines = TiedMachines(grams, presence, np.array([0.5, 2.0]), 0.3, 0.1)
    assert [factor.shape[1] for factor in machines.factors] == [2, 3]
    low = machines.solve(y.astype(float), labeled)
    monkeypatch.setattr("coview.inference._tied_machines._LOW_RANK", 0.0)
    full = TiedMachines(grams, presence, np.array([0.5, 2.0]), 0.3, 0.1)
    assert full.factors is None
    full = full.solve(y.astype(float), labeled)
    np.testing.assert_allclose(low.objective, full.objective, rtol=1e-9)
    np.testing.assert_allclose(low.intercepts, full.intercepts, atol=1e-6)
    for K, a, b in zip(grams, low.dual, full.dual, strict=True):
        np.testing.assert_allclose(K @ a, K @ b, atol=1e-6)


def test_a_matrix_that_is_not_positive_has_no_factor():
    x = np.linspace(-1.0, 1.0, 30)[:, None]
    presence = np.ones((30, 1), dtype=bool)
    for K, positive in ((x @ x.T, True), (x @ x.T - (x**2) @ (x**2).T, False)):
        assert (TiedMachines([K], presence, np.ones(1), 0.0, 0.0).factors is not None) == positive


def test_any_kernel():
    blocks, y = draw()
    given = [
        lambda X, Z=None: np.exp(-np.abs(X[:, None] - (X if Z is None else Z)[None]).sum(axis=2)),
        RBF(1.0) * RBF(2.0),
    ]
    model = SVM2K(given, probability=False).fit(blocks, y)
    assert model.score(blocks, y) > 0.8
    same = SVM2K(["precomputed", RBF(np.sqrt(0.8))], probability=False).fit([given[0](blocks[0]), blocks[1]], y)
    expected = model.decision_function(blocks)
    np.testing.assert_allclose(same.decision_function([given[0](blocks[0]), blocks[1]]), expected, atol=1e-7)


@pytest.mark.parametrize("per_class", [1, 2, 5])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_most_probable_class_is_the_predicted_one(per_class, n_classes):
    rng = np.random.default_rng(per_class)
    y = np.arange(60) % n_classes
    blocks = [3.0 * np.eye(n_classes)[y] + rng.normal(size=(60, n_classes)) for _ in range(2)]
    rows = np.arange(per_class * n_classes)
    model = SVM2K("linear").fit([block[rows] for block in blocks], y[rows])
    probabilities = model.predict_proba(blocks)
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(blocks))
    assert np.ptp(probabilities) > 0.2
