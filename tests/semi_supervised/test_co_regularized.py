"""Co-regularized learners: the published toy, scikit-learn's machines as special cases, and bad input."""

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import LinearSVC

from coview import Views
from coview.exceptions import ViewError
from coview.gaussian_process import consistent_set
from coview.persistence import load_model, save_model
from coview.semi_supervised import (
    CoRegularizedLeastSquaresClassifier,
    CoRegularizedLeastSquaresRegressor,
    CoRegularizedSVC,
)

TOY = json.loads((Path(__file__).parents[1] / "golden" / "corls_toy_reference.json").read_text(encoding="utf-8"))
CASES = {case["name"]: case for case in TOY["cases"]}
CLASSIFIERS = [CoRegularizedLeastSquaresClassifier, CoRegularizedSVC]
LEARNERS = [*CLASSIFIERS, CoRegularizedLeastSquaresRegressor]


def moons_and_lines(seed, n=50, moon_noise=0.1, line_noise=0.1, length=6.0, angle=30.0):
    """Experiment A of the reference: two moons, two lines, one label per class at opposite ends of the lines."""
    rng = np.random.default_rng(seed)
    a = np.deg2rad(angle)
    along, across = np.array([np.cos(a), np.sin(a)]), np.array([-np.sin(a), np.cos(a)])
    moons, lines, where = [], [], []
    for sign in (1.0, -1.0):
        t, e = rng.uniform(0.0, np.pi, n), rng.normal(size=(n, 2))
        s, g = rng.uniform(-0.5, 0.5, n), rng.normal(size=(n, 2))
        arc = [np.cos(t), np.sin(t)] if sign > 0 else [1.0 - np.cos(t), 0.5 - np.sin(t)]
        moons.append(np.column_stack(arc) + moon_noise * e - [0.5, 0.25])
        lines.append(length * s[:, None] * along + sign * 0.5 * across + line_noise * g)
        where.append(s)
    truth = np.repeat([1, -1], n)
    labeled = np.array([where[0].argmax(), n + where[1].argmin()])
    return [np.vstack(moons), np.vstack(lines)], truth, labeled


def test_the_toy_is_that_of_the_reference():
    (moons, lines), _, labeled = moons_and_lines(0)
    out = CASES["generator_check"]["outputs"]
    for block, name in ((moons, "X1"), (lines, "X2")):
        np.testing.assert_allclose(block[:3], out[f"{name}_first3"], rtol=1e-8)
        np.testing.assert_allclose(block[-2:], out[f"{name}_last2"], rtol=1e-8)
    assert labeled.tolist() == out["labelled_indices"]


ROWS = {
    "A rls": {"coupling": 0.0},
    "A co-rls gamma_C=10": {"coupling": 10.0},
    "A co-rls, centred kernels": {"coupling": 10.0, "constants": "center"},
    "A co-rls, orthogonal to constants (literal)": {"coupling": 10.0, "constants": "orthogonal"},
}


@pytest.mark.parametrize("row", ROWS)
def test_moons_and_lines_at_the_figures_of_the_reference(row):
    """Two labels; errors of each view on the others, 30 seeds. The program is the same, so are the errors."""
    errors = []
    for seed in range(30):
        blocks, truth, labeled = moons_and_lines(seed)
        y = np.full(len(truth), np.nan)
        y[labeled] = truth[labeled]
        model = CoRegularizedLeastSquaresClassifier([RBF(0.5), "linear"], **ROWS[row]).fit(blocks, y)
        others = np.isnan(y)
        scores = model.decision_function_per_view(blocks)
        errors.append([np.mean((f >= 0.0)[others] != (truth > 0)[others]) for f in scores])
    out = CASES["errors"]["outputs"][row]
    np.testing.assert_allclose(np.mean(errors, axis=0), out["mean_error"], atol=1e-3)
    np.testing.assert_allclose(np.median(errors, axis=0), out["median_error"], atol=1e-3)
    np.testing.assert_allclose(np.max(errors, axis=0), out["worst"], atol=1e-3)


def draw(n=60, n_views=2, seed=0, n_labeled=20):
    rng = np.random.default_rng(seed)
    sign = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    blocks = [0.8 * sign[:, None] + rng.normal(size=(n, 2 + v)) for v in range(n_views)]
    y = np.where(sign > 0, "yes", "no").astype(object)
    y[n_labeled:] = None
    return blocks, y, sign


def target(learner, y):
    """Classes, or numbers for a regressor."""
    if learner in CLASSIFIERS:
        return y
    return np.array([np.nan if one is None else {"yes": 1.0, "no": -1.0}[one] for one in y])


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("n_views", [2, 3])
def test_coefficients_of_unlabeled_samples_cancel(learner, n_views):
    blocks, y, _ = draw(n_views=n_views)
    ridge = [0.1, 0.02, 0.3][:n_views]
    model = learner(RBF(1.5), ridge=ridge).fit(blocks, target(learner, y))
    weighted = sum(price * a for price, a in zip(ridge, model.dual_coef_, strict=True))
    np.testing.assert_allclose(weighted[20:], 0.0, atol=1e-10)
    assert np.abs(weighted[:20]).max() > 1e-3
    assert min(np.abs(a[20:]).max() for a in model.dual_coef_) > 1e-4


def test_without_coupling_it_is_kernel_ridge_by_view():
    blocks, y, sign = draw()
    model = CoRegularizedLeastSquaresClassifier(RBF(1.5), ridge=0.05, coupling=0.0).fit(blocks, y)
    for v, scores in enumerate(model.decision_function_per_view(blocks)):
        alone = KernelRidge(alpha=20 * 0.05, kernel="rbf", gamma=0.5 / 1.5**2).fit(blocks[v][:20], sign[:20])
        np.testing.assert_allclose(scores, alone.predict(blocks[v]), rtol=1e-8)
        np.testing.assert_array_equal(model.dual_coef_[v][20:], 0.0)


@pytest.mark.parametrize("C", [0.05, 5.0])
def test_without_coupling_it_is_a_support_vector_machine_by_view(C):
    """scikit-learn's machine without a constant is a linear one: other kernels are given to it as features."""
    blocks, y, sign = draw()
    model = CoRegularizedSVC([RBF(1.5), "linear"], ridge=0.5 / (20 * C), coupling=0.0).fit(blocks, y)
    values, vectors = np.linalg.eigh(RBF(1.5)(blocks[0]))
    kept = values > 1e-10
    features = [vectors[:, kept] * np.sqrt(values[kept]), blocks[1]]
    for scores, X in zip(model.decision_function_per_view(blocks), features, strict=True):
        machine = LinearSVC(C=C, loss="hinge", fit_intercept=False, tol=1e-10, max_iter=1_000_000, dual=True)
        machine.fit(X[:20], sign[:20])
        np.testing.assert_allclose(scores, machine.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("learner", CLASSIFIERS)
def test_more_classes_are_one_against_the_rest(learner):
    blocks, _, _ = draw(45)
    y = np.array(["x", "y", "z"], dtype=object)[np.arange(45) % 3]
    for block in blocks:
        block[2::3, 0] += 4.0
    y[30:] = None
    model = learner("rbf").fit(blocks, y)
    scores = model.decision_function(blocks)
    for k, label in enumerate(model.classes_):
        binary = np.where(pd.isna(y), None, y == label)
        np.testing.assert_allclose(
            scores[:, k], learner("rbf").fit(blocks, binary).decision_function(blocks), atol=1e-8
        )
    assert [a.shape for a in model.dual_coef_] == [(45, 3), (45, 3)]
    assert model.objective_.shape == (3,)
    np.testing.assert_array_equal(model.predict(blocks), model.classes_[scores.argmax(axis=1)])
    np.testing.assert_array_equal(model.predict_proba(blocks).argmax(axis=1), scores.argmax(axis=1))


@pytest.mark.parametrize("constants", ["none", "center", "orthogonal"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_sparse_dense_and_precomputed_views_agree(learner, constants):
    """Features, values, and features that stay sparse: three routes to one answer."""
    blocks, y, _ = draw()
    new, _, _ = draw(7, seed=3)
    thin = [sparse.csr_array(np.where(np.abs(block) > 0.5, block, 0.0)) for block in blocks]
    dense = [block.toarray() for block in thin]
    new = [np.where(np.abs(block) > 0.5, block, 0.0) for block in new]
    y = target(learner, y)
    kernel = ConstantKernel(2.0) * DotProduct(0.0, "fixed")
    expected = learner(kernel, constants=constants).fit(dense, y)
    other = learner(kernel, constants=constants).fit(thin, y)
    given = learner("precomputed", constants=constants).fit([2.0 * X @ X.T for X in dense], y)
    values = [2.0 * rows @ X.T for rows, X in zip(new, dense, strict=True)]
    want = expected.decision_function_per_view(new)
    np.testing.assert_allclose(other.decision_function_per_view([sparse.csr_array(X) for X in new]), want, atol=1e-7)
    np.testing.assert_allclose(given.decision_function_per_view(values), want, atol=1e-7)
    np.testing.assert_allclose(other.dual_coef_, expected.dual_coef_, atol=1e-7)
    np.testing.assert_allclose(given.dual_coef_, expected.dual_coef_, atol=1e-7)


def test_wide_sparse_views_stay_sparse():
    """1,500 documents of 24,000 words: their kernel is all that is dense."""
    rng = np.random.default_rng(0)
    views = [sparse.random_array((1500, 24_000), density=0.002, rng=rng, format="csr") for _ in range(2)]
    y = np.where(np.arange(1500) < 40, np.arange(1500) % 2, -1)
    y[:2] = [0, 1]
    tracemalloc.start()
    model = CoRegularizedLeastSquaresClassifier("linear", missing_label=-1).fit(views, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 8 * 1500**2  # one dense view would have 16 times the size of a kernel
    assert model.predict(views).shape == (1500,)


def test_wide_views_of_many_samples_are_solved_by_products():
    """9,000 documents of 24,000 words: no matrix of either order, which would take 650 MB."""
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=9000)
    views = []
    for _ in range(2):
        words = rng.integers(12_000, size=(9000, 30)) + np.where(
            rng.random((9000, 30)) < 0.5, 12_000 * truth[:, None], 0
        )
        rows = np.repeat(np.arange(9000), 30)
        views.append(sparse.csr_array((np.full(words.size, 0.2), (rows, words.ravel())), shape=(9000, 24_000)))
    y = np.where(np.arange(9000) < 20, truth, -1)
    y[:2] = [0, 1]
    for learner in CLASSIFIERS:
        tracemalloc.start()
        model = learner("linear", constants="center", missing_label=-1).fit(views, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 200e6
        weighted = np.abs(model.dual_coef_[0] + model.dual_coef_[1])
        assert weighted[20:].max() < 1e-9 * np.abs(model.dual_coef_[0][20:]).max()


def test_narrow_views_never_meet_a_matrix_of_all_samples():
    """20,000 samples of 10 features: a matrix of them would take 3.2 GB."""
    rng = np.random.default_rng(0)
    n = 20_000
    truth = rng.integers(2, size=n)
    blocks = [truth[:, None] + rng.normal(size=(n, 5)) for _ in range(2)]
    blocks[1] = sparse.csr_array(np.where(blocks[1] > 1.0, blocks[1], 0.0))
    y = np.where(np.arange(n) < 6000, truth, -1)
    y[:2] = [0, 1]
    for learner in CLASSIFIERS:
        tracemalloc.start()
        model = learner("linear", constants="center", missing_label=-1).fit(blocks, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 100e6
        assert np.mean(model.transduction_ == truth) > 0.8


@pytest.mark.parametrize("constants", ["none", "center"])
@pytest.mark.parametrize("ridge", [1e-2, 1e-12])
def test_tiny_ridges_leave_linear_predictions_accurate(ridge, constants):
    """Against an orthogonal solution of the stacked rows; coefficients of samples would lose 12 digits."""
    blocks, y, sign = draw(n=200)
    model = CoRegularizedLeastSquaresClassifier("linear", ridge=ridge, constants=constants).fit(blocks, y)
    A, B = [X - X.mean(axis=0) if constants == "center" else X for X in blocks]
    none = [np.zeros((20, X.shape[1])) for X in blocks]
    rows = [
        np.hstack([A[:20], none[1]]) / np.sqrt(20),
        np.hstack([none[0], B[:20]]) / np.sqrt(20),
        np.hstack([A, -B]) / np.sqrt(200),
        np.sqrt(ridge) * np.eye(5),
    ]
    aims = np.concatenate([sign[:20] / np.sqrt(20), sign[:20] / np.sqrt(20), np.zeros(205)])
    w = np.linalg.lstsq(np.vstack(rows), aims)[0]
    for scores, want in zip(model.decision_function_per_view(blocks), (A @ w[:2], B @ w[2:]), strict=True):
        np.testing.assert_allclose(scores, want, rtol=1e-9, atol=1e-11)


def test_probabilities_come_from_scores_that_did_not_see_the_label():
    """On noise they stay near the shares of the classes, although the functions separate what they saw."""
    rng = np.random.default_rng(0)
    blocks = [rng.normal(size=(60, 40)) for _ in range(2)]
    y = np.arange(60) % 2
    for model in (CoRegularizedLeastSquaresClassifier("linear", ridge=1e-3), CoRegularizedSVC("linear", ridge=1e-3)):
        assert model.fit(blocks, y).score(blocks, y) >= 0.9
        assert np.abs(model.predict_proba(blocks) - 0.5).max() < 0.3
    hard = CoRegularizedSVC("linear", probability=False).fit(blocks, y)
    np.testing.assert_array_equal(np.unique(hard.predict_proba(blocks)), [0.0, 1.0])


def test_leave_one_out_is_public():
    blocks, y, _ = draw()
    model = CoRegularizedLeastSquaresClassifier("rbf").fit(blocks, y)
    assert np.isnan(model.loo_decision_function_[20:]).all()
    assert np.isfinite(model.loo_decision_function_[:20]).all()
    assert np.abs(model.loo_decision_function_ - model.decision_function(blocks))[:20].min() > 1e-6
    numbers = target(CoRegularizedLeastSquaresRegressor, y)
    regressor = CoRegularizedLeastSquaresRegressor("rbf").fit(blocks, numbers)
    np.testing.assert_allclose(regressor.loo_predictions_, model.loo_decision_function_, rtol=1e-9)


def test_a_mean_target_is_taken_out_and_put_back():
    blocks, y, _ = draw()
    numbers = target(CoRegularizedLeastSquaresRegressor, y)
    moved = CoRegularizedLeastSquaresRegressor("rbf", normalize_y=True).fit(blocks, numbers + 100.0)
    around = CoRegularizedLeastSquaresRegressor("rbf", normalize_y=True).fit(blocks, numbers)
    np.testing.assert_allclose(moved.predict(blocks), around.predict(blocks) + 100.0, rtol=1e-9)
    np.testing.assert_allclose(moved.loo_predictions_[:20], around.loo_predictions_[:20] + 100.0, rtol=1e-9)
    np.testing.assert_allclose(
        moved.decision_function_per_view(blocks)[0], around.predict(blocks, view="view_0") + 100.0
    )


@pytest.mark.parametrize("learner", LEARNERS)
def test_views_missing_at_prediction_leave_the_score_of_the_others(learner):
    blocks, y, _ = draw()
    model = learner("rbf").fit({"a": blocks[0], "b": blocks[1]}, target(learner, y))
    whole = {"a": blocks[0], "b": blocks[1]}
    parts = model.decision_function_per_view(whole)
    answer = model.decision_function if learner in CLASSIFIERS else model.predict
    np.testing.assert_array_equal(answer({"b": blocks[1]}), parts[1])
    np.testing.assert_array_equal(answer(whole, view="b"), parts[1])
    np.testing.assert_allclose(answer(whole), (parts[0] + parts[1]) / 2, rtol=1e-12)
    assert np.isnan(model.decision_function_per_view({"b": blocks[1]})[0]).all()
    with pytest.raises(ViewError, match="'c'"):
        model.predict(whole, view="c")


@pytest.mark.parametrize("learner", LEARNERS)
def test_without_views_the_prior_answers(learner):
    blocks, y, _ = draw()
    y[:4] = "yes"
    presence = np.ones((60, 2), dtype=bool)
    presence[30] = False
    X, known = Views(blocks, presence=presence), target(learner, y)
    model = learner("rbf", no_view="prior").fit(X, known)
    if learner in CLASSIFIERS:
        np.testing.assert_allclose(model.label_distributions_[30], [8 / 20, 12 / 20])
        assert model.predict(X)[30] == "yes"
    else:
        np.testing.assert_allclose(model.predict(X)[30], 4 / 20)
    with pytest.raises(ViewError, match=r"\b30\b"):
        learner("rbf").fit(X, known)


# Bad input: each is defined, and says what it cannot do.


def test_labels_of_one_class():
    """Least squares is well defined; a machine with a margin needs another side."""
    blocks, y, _ = draw()
    y[:20] = "yes"
    model = CoRegularizedLeastSquaresClassifier("rbf").fit(blocks, y)
    assert model.predict(blocks).tolist() == ["yes"] * 60
    np.testing.assert_array_equal(model.predict_proba(blocks), np.ones((60, 1)))
    two = CoRegularizedLeastSquaresClassifier("rbf", classes=["no", "yes"]).fit(blocks, y)
    assert (two.decision_function(blocks) > 0.0).all()
    np.testing.assert_allclose(two.predict_proba(blocks).sum(axis=1), 1.0)
    with pytest.raises(ValueError, match="class"):
        CoRegularizedSVC("rbf").fit(blocks, y)
    with pytest.raises(ValueError, match="one class"):
        CoRegularizedSVC("rbf", classes=["no", "yes"]).fit(blocks, y)


@pytest.mark.parametrize("learner", LEARNERS)
def test_no_unlabeled_sample_and_no_labeled_one(learner):
    blocks, y, sign = draw(n_labeled=60)
    model = learner("rbf").fit(blocks, target(learner, y))
    scores = model.decision_function(blocks) if learner in CLASSIFIERS else model.predict(blocks)
    assert np.mean(np.sign(scores) == sign) > 0.7
    with pytest.raises(ValueError, match="label"):
        learner("rbf").fit(blocks, target(learner, np.full(60, None)))


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_view_without_a_labeled_sample_learns_from_the_others(learner):
    blocks, y, sign = draw()
    presence = np.ones((60, 2), dtype=bool)
    presence[:20, 1] = False
    X, known = Views(blocks, presence=presence), target(learner, y)
    model = learner("rbf").fit(X, known)
    scores = model.decision_function_per_view(blocks)[1]
    assert np.mean(np.sign(scores) == sign) > 0.7
    apart = learner("rbf", coupling=0.0).fit(X, known)
    assert np.isnan(apart.decision_function_per_view(blocks)[1]).all()
    np.testing.assert_array_equal(apart.predict(blocks), apart.predict(blocks, view="view_0"))
    presence[20:, 0] = False  # no sample has both
    X = Views(blocks, presence=presence)
    with pytest.raises(ViewError, match=r"\b20\b"):
        learner("rbf").fit(X, known).predict(X)
    split = learner("rbf", no_view="prior").fit(X, known)
    assert np.isnan(split.decision_function_per_view(blocks)[1]).all()


@pytest.mark.parametrize("learner", LEARNERS)
def test_weights_of_zero(learner):
    blocks, y, sign = draw()
    known = target(learner, y)
    model = learner("rbf", view_weights=[1.0, 0.0], coupling=5.0).fit(blocks, known)
    assert np.mean(np.sign(model.decision_function_per_view(blocks)[1]) == sign) > 0.7
    with pytest.raises(ViewError, match="view_weights"):
        learner("rbf", view_weights=0.0 * np.ones(2)).fit(blocks, known)


@pytest.mark.parametrize("constants", ["none", "center", "orthogonal"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_constant_kernel(learner, constants):
    """Without its constant nothing is left: the view says 0. With it, it is drawn to what the other view says on average."""
    blocks, y, _ = draw()
    known = target(learner, y)
    model = learner([ConstantKernel(1.0), "rbf"], constants=constants).fit(blocks, known)
    first, second = model.decision_function_per_view(blocks)
    assert np.ptp(first) < 1e-9
    if constants != "none":
        np.testing.assert_allclose(first, 0.0, atol=1e-9)
    assert np.isfinite(second).all()
    assert np.ptp(second) > 0.1
    zero = learner("linear", constants=constants).fit([np.zeros((60, 2)), blocks[1]], known)
    np.testing.assert_array_equal(zero.decision_function_per_view([np.zeros((60, 2)), blocks[1]])[0], 0.0)


@pytest.mark.parametrize("learner", LEARNERS)
def test_duplicates_and_contradictions(learner):
    """Equal samples get equal answers, in one view or in both; labels that contradict each other meet in between."""
    blocks, y, _ = draw()
    blocks[0][40:50] = blocks[0][30]
    blocks[0][1], blocks[1][1] = blocks[0][0], blocks[1][0]
    assert y[0] != y[1]
    model = learner(RBF(0.1), ridge=1e-4).fit(blocks, target(learner, y))
    first = model.decision_function_per_view(blocks)[0]
    np.testing.assert_allclose(first[40:50], first[30], atol=1e-9)
    answer = model.decision_function(blocks) if learner in CLASSIFIERS else model.predict(blocks)
    np.testing.assert_allclose(answer[0], answer[1], atol=1e-9)
    assert abs(answer[0]) < 0.1
    assert np.isfinite(answer).all()


@pytest.mark.parametrize("learner", CLASSIFIERS)
def test_a_class_seen_in_one_view_only(learner):
    blocks, y, sign = draw()
    presence = np.ones((60, 2), dtype=bool)
    presence[:20, 0] = sign[:20] > 0  # no labeled "no" has the first view
    presence[1:20:2, 1] = True
    model = learner("rbf").fit(Views(blocks, presence=presence), y)
    scores = model.decision_function_per_view(blocks)
    assert np.mean(np.sign(scores[1]) == sign) > 0.7
    assert np.corrcoef(scores[0], scores[1])[0, 1] > 0.3  # what it never saw labeled comes through the ties
    assert np.isfinite(model.predict_proba(blocks)).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ridge": [0.1, -1.0]}, "ridge must be finite and positive"),
        ({"ridge": [0.1]}, "ridge must be one number, or one for each of the 2 views"),
        ({"ridge": {"a": 1.0}}, "ridge must name every view"),
        ({"ridge": 0.0}, "ridge"),
        ({"coupling": -1.0}, "coupling"),
        ({"view_weights": [1.0, -1.0]}, "view_weights must be finite and not negative"),
        ({"constants": "drop"}, "constants"),
        ({"kernel": ["rbf"]}, "one entry per view"),
    ],
)
@pytest.mark.parametrize("learner", LEARNERS)
def test_bad_parameters(learner, changes, message):
    blocks, y, _ = draw()
    with pytest.raises(ValueError, match=message):
        learner(**changes).fit(blocks, target(learner, y))


@pytest.mark.parametrize("learner", LEARNERS)
def test_too_many_samples_are_refused_before_their_kernel_is_made(learner):
    X = np.arange(20_001.0)[:, None]
    y = np.full(len(X), np.nan)
    y[:2] = [0, 1]
    with pytest.raises(ValueError, match="'b' has 20001 samples"):
        learner(["linear", "rbf"], random_state=0).fit({"a": X, "b": X}, y)


@pytest.mark.parametrize("learner", LEARNERS)
def test_saved_and_loaded(learner, tmp_path):
    blocks, y, _ = draw()
    model = learner(["linear", "rbf"], constants="center").fit(blocks, target(learner, y))
    save_model(model, tmp_path / "model.coview")
    again = load_model(tmp_path / "model.coview").model
    np.testing.assert_allclose(again.decision_function_per_view(blocks), model.decision_function_per_view(blocks))
    np.testing.assert_array_equal(again.predict(blocks), model.predict(blocks))


@pytest.mark.parametrize("learner", LEARNERS)
def test_views_tied_on_some_samples_only(learner):
    blocks, y, _ = draw()
    known = target(learner, y)
    some = np.arange(60) % 3 == 0
    model = learner("rbf").fit(blocks, known, samples_in_agreement=some)
    by_position = learner("rbf").fit(blocks, known, samples_in_agreement=np.flatnonzero(some))
    np.testing.assert_array_equal(model.dual_coef_, by_position.dual_coef_)
    free = np.flatnonzero(~some)
    free = free[free >= 20]
    np.testing.assert_array_equal(np.array(model.dual_coef_)[:, free], 0.0)  # neither labeled nor tied
    assert np.abs(np.array(model.dual_coef_)[:, some]).min() > 1e-6
    whole = learner("rbf").fit(blocks, known, samples_in_agreement=np.ones(60, dtype=bool))
    np.testing.assert_array_equal(whole.dual_coef_, learner("rbf").fit(blocks, known).dual_coef_)
    none = learner("rbf").fit(blocks, known, samples_in_agreement=[])
    np.testing.assert_allclose(none.dual_coef_, learner("rbf", coupling=0.0).fit(blocks, known).dual_coef_)


def test_the_consistent_set_is_taken_as_it_comes():
    """Labels that a view contradicts are no reason to agree: with the ties on the others only, each view keeps its own."""
    blocks, y, _ = draw(n_labeled=60)
    blocks[1][:10] *= -1.0  # the second view says the opposite there
    alone = [CoRegularizedLeastSquaresClassifier("rbf").fit(block, y) for block in blocks]
    consistent = consistent_set(alone, blocks, y)
    assert 20 < len(consistent) < 60
    model = CoRegularizedLeastSquaresClassifier("rbf", coupling=100.0).fit(blocks, y, consistent)
    apart = np.abs(np.subtract(*model.decision_function_per_view(blocks)))
    others = np.setdiff1d(np.arange(60), consistent)
    assert apart[consistent].mean() < 0.5 * apart[others].mean()


@pytest.mark.parametrize(
    ("samples", "message"),
    [([True], "mask of the 60"), ([0.5], "mask of the 60"), ([60], "below 60"), ([-1], "below 60")],
)
def test_bad_samples_in_agreement(samples, message):
    blocks, y, _ = draw()
    with pytest.raises(ValueError, match=message):
        CoRegularizedSVC().fit(blocks, y, samples_in_agreement=samples)
