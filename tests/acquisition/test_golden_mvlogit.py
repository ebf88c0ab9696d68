"""Golden values of active learning with co-regularized logistic regression (``tests/golden/mvlogit_golden.json``).

The model part is in ``tests/linear_model/test_golden_mvlogit.py``; that every key is looked at in one of the two is tested here.
"""

import numpy as np
import pytest

from coview.acquisition import label_utilities, view_utilities
from coview.acquisition._logistic import LogisticScores, held_views
from coview.acquisition._scored_model import ScoredModel
from coview.inference import expected_curvature, expected_smoothness
from coview.mixture import IncompleteGaussianMixture

from ..linear_model.mvlogit_problems import CASES, OVER, blocks_of, close, model_of, target_of

pytestmark = [pytest.mark.parametrize("case", CASES.values(), ids=CASES), pytest.mark.parametrize("over", OVER)]

# Keys by the test that compares them.
OF_MODEL = {
    "C", "delta_view1", "delta_view2", "effective_ranks", "probe", "bound_step_from_zero", "map_w", "map_log_posterior",
    "prior_precision", "posterior_precision", "log_det_posterior_precision", "entropy_nats", "expected_lambda_at_map",
    "gem_converged", "gem_objective_first5", "gem_first", "gem_third_w",
}  # fmt: skip
OF_LABELS = {"index", "mi_nats", "mi_nats_leaving_cotraining_sum"}
OF_VIEWS = {
    "index", "labeled", "expectations", "expected_increment", "mi_bound_nats", "mi_bound_nats_exact_M6", "mi_plugin_nats",
}  # fmt: skip
OF_EXPECTATIONS = {"weights", "m1", "M2", "m3", "m4", "M5", "M6", "M6_exact"}


def density_of(case):
    """The mixture, views independent within a component."""
    gmm = {key: np.array(value) for key, value in case["inputs"]["gmm"].items()}
    d = gmm["means1"].shape[1]
    means = np.hstack([gmm["means1"], gmm["means2"]])
    covariances = np.zeros((len(means), means.shape[1], means.shape[1]))
    covariances[:, :d, :d], covariances[:, d:, d:] = gmm["covs1"], gmm["covs2"]
    return IncompleteGaussianMixture.from_parameters(gmm["weights"], means, covariances)


def scores_of(case, over):
    """Scores, and by sample what its second view may hold."""
    scored = ScoredModel.of(model_of(case, over), blocks_of(case), target_of(case))
    pairs = np.argwhere(~scored.views.presence)
    conditional = density_of(case).conditional(scored.views)
    held = {}
    for view, _, samples, group in held_views(conditional, scored.views, pairs, point_mass=False):
        if view == "view_1":
            held |= {sample: group[np.arange(len(samples)) == at] for at, sample in enumerate(samples)}
    return LogisticScores(scored), held


def test_every_key_is_looked_at(case, over):
    expected = case["expected"][over]
    assert set(expected) == OF_MODEL | {"label_mi", "feature_mi_view2"}
    assert all(set(entry) <= OF_LABELS for entry in expected["label_mi"])
    assert all(set(entry) <= OF_VIEWS for entry in expected["feature_mi_view2"])
    for entry in expected["feature_mi_view2"]:
        assert set(entry["expectations"]) <= OF_EXPECTATIONS
    assert set(case["expected"]) == set(OVER)


def test_labels(case, over):
    table = label_utilities(model_of(case, over), blocks_of(case), target_of(case)).set_index("sample")["utility"]
    want = {entry["index"]: entry["mi_nats"] for entry in case["expected"][over]["label_mi"]}
    assert set(table.index) == set(want)
    close(table[list(want)], list(want.values()))


def test_labels_that_take_their_sample_out_of_the_agreement(case, over):
    """The consistent value where only unlabeled samples agree, which may be negative."""
    blocks, y = blocks_of(case), target_of(case)
    model = model_of(case, over).fit(blocks, y)
    before, places = model.posterior_precision_, np.cumsum([0, *(block.shape[1] for block in blocks)])
    for entry in case["expected"][over]["label_mi"]:
        if "mi_nats_leaving_cotraining_sum" not in entry:
            assert over == "all" or any(np.isnan(block[entry["index"], 0]) for block in blocks)
            continue
        after, apart, count = before.copy(), np.zeros(len(before)), 0
        for sign, block, start in zip((1, -1), blocks, places, strict=False):
            x = block[entry["index"]]
            if np.isnan(x[0]):
                continue
            part = slice(start, start + len(x))
            p = 1.0 / (1.0 + np.exp(-x @ model.coef_[part]))
            after[part, part] += p * (1.0 - p) * np.outer(x, x)
            apart[part] = sign * x
            count += 1
        if count == 2:
            after -= case["inputs"]["lambda_co"] * np.outer(apart, apart)
        gain = 0.5 * (np.linalg.slogdet(after)[1] - np.linalg.slogdet(before)[1])
        close(gain, entry["mi_nats_leaving_cotraining_sum"])


@pytest.mark.parametrize("expectation", ["quadrature", "point_mass"])
def test_views(case, over, expectation):
    options = {"criterion": "mutual_information_bound", "expectation": expectation, "density": density_of(case)}
    table = view_utilities(model_of(case, over), blocks_of(case), target_of(case), **options)
    table = table[table["view"] == "view_1"].set_index("sample")["utility"].dropna()
    key = {"quadrature": "mi_bound_nats_exact_M6", "point_mass": "mi_plugin_nats"}[expectation]
    entries = case["expected"][over]["feature_mi_view2"]
    # without a label there is no M6, and one bound
    want = {entry["index"]: entry.get(key, entry["mi_bound_nats"]) for entry in entries}
    assert set(table.index) == set(want)
    close(table[list(want)], list(want.values()))


def test_bound_with_a_gaussian_for_the_slope(case, over):
    scores, held = scores_of(case, over)
    for entry in case["expected"][over]["feature_mi_view2"]:
        sample = np.array([entry["index"]])
        got = scores.information_bound("view_1", sample, held[entry["index"]], quadrature=False)
        close(got[0], entry["mi_bound_nats"])


def test_expectations(case, over):
    model = model_of(case, over).fit(blocks_of(case), target_of(case))
    X1, X2 = blocks_of(case)
    d, seen = X1.shape[1], X2[~np.isnan(X2[:, 0])]
    inputs, (_, held) = case["inputs"], scores_of(case, over)
    for entry in case["expected"][over]["feature_mi_view2"]:
        mine, want = held[entry["index"]], entry["expectations"]
        close(mine.weights[0], want["weights"])
        close(mine.mean()[0], want["m1"])
        close(mine.second_moment()[0], want["M2"])
        slopes = {
            quadrature: expected_curvature(mine, model.coef_[d:], quadrature=quadrature)[0] for quadrature in (0, 1)
        }
        if entry["labeled"]:
            close(slopes[0], want["M6"])
            close(slopes[1], want["M6_exact"])
        m3, m4, M5 = (np.array(want[key]) for key in ("m3", "m4", "M5"))
        rough = np.einsum("j,jp,jq->pq", m3, seen, seen) - seen.T @ m4 - m4.T @ seen + M5.sum(axis=0)
        got = expected_smoothness(mine, seen, inputs["kernel_var"][1], normalized=True)[0]
        close(got, rough)
        increment = np.zeros((len(model.coef_), len(model.coef_)))
        increment[d:, d:] = inputs["lambda_0"] * got + (slopes[0] if entry["labeled"] else 0.0)
        x = X1[entry["index"]]
        if over == "all" or not entry["labeled"]:
            cross = -inputs["lambda_co"] * np.outer(x, mine.mean()[0])
            increment[:d, :d], increment[:d, d:] = inputs["lambda_co"] * np.outer(x, x), cross
            increment[d:, :d] = cross.T
            increment[d:, d:] += inputs["lambda_co"] * mine.second_moment()[0]
        close(increment, entry["expected_increment"])
