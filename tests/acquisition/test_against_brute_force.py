"""Every criterion against slow, independent computations: dense joint Gaussians, models fitted again, no shared numerics."""

import numpy as np
import pytest
from numpy.linalg import inv, slogdet, solve
from scipy.special import expit
from scipy.stats import multivariate_normal, spearmanr
from sklearn.base import clone
from sklearn.gaussian_process.kernels import DotProduct

from coview import Views
from coview.acquisition import view_utilities
from coview.gaussian_process import BayesianCoTrainingClassifier, BayesianCoTrainingRegressor
from coview.mixture import ClassConditionalGaussianMixture, IncompleteGaussianMixture

N, WIDTHS, VARIANCES, BIAS = 18, (1, 2, 3, 2), np.array([0.4, 0.9, 1.7, 0.6]), 0.7
N_VIEWS = len(WIDTHS)


def data(seed=0, n_labels=8):
    """Four views of different widths, half of them missing; binary labels of some."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(N) % 2)
    tables = [rng.standard_normal((N, p)) + 0.9 * codes[:, None] for p in WIDTHS]
    presence = rng.random((N, N_VIEWS)) < 0.5
    presence[np.arange(N), rng.integers(N_VIEWS, size=N)] = True
    labeled = np.arange(N) < n_labels
    return tables, presence, codes, labeled


def components():
    """Two components of each class, views independent given them: class, weight, means, covariances."""
    rng = np.random.default_rng(5)
    found = []
    for c in (0.0, 1.0):
        for weight in (0.3, 0.7):
            means = [rng.normal(size=p) + c for p in WIDTHS]
            roots = [np.eye(p) + 0.3 * rng.normal(size=(p, p)) for p in WIDTHS]
            found.append((c, weight, means, [root @ root.T for root in roots]))
    return found


def density():
    parts = {}
    for c in (0.0, 1.0):
        mine = [part for part in components() if part[0] == c]
        means = [[part[2][j] for part in mine] for j in range(N_VIEWS)]
        covariances = [[part[3][j] for part in mine] for j in range(N_VIEWS)]
        parts[c] = ([part[1] for part in mine], means, covariances)
    return ClassConditionalGaussianMixture.from_parameters({0.0: 0.4, 1.0: 0.6}, parts)


def weights_of(i, tables, presence, label):
    """Probabilities of the components given what sample i shows, by Bayes' rule."""
    weights = np.array([(0.4, 0.6)[int(c)] * weight for c, weight, _, _ in components()])
    for k, (c, _, means, covariances) in enumerate(components()):
        for j in np.flatnonzero(presence[i]):
            weights[k] *= multivariate_normal(means[j], covariances[j]).pdf(tables[j][i])
        if label is not None and c != label:
            weights[k] = 0.0
    return weights / weights.sum()


class Dense:
    """The views' functions and the consensus function at all samples, as one joint Gaussian; nothing is eliminated.

    Values: each view's function at the samples that have the view (linear kernels), the consensus function at all samples.
    """

    def __init__(self, tables, presence, *, of_mean, variances=VARIANCES, bias=BIAS):
        self.presence, self.of_mean, self.variances, self.bias = presence, of_mean, variances, bias
        self.places = [(j, i) for j in range(N_VIEWS) for i in np.flatnonzero(presence[:, j])]
        q = len(self.places)
        K = np.zeros((q, q))
        for a, (j, i) in enumerate(self.places):
            for b, (k, h) in enumerate(self.places):
                if j == k:
                    K[a, b] = tables[j][i] @ tables[k][h]
        # a ridge in place of the kernel's missing rank
        self.views_precision = inv(K + 1e-7 * np.eye(q))
        Q = np.zeros((q + N, q + N))
        Q[:q, :q] = self.views_precision
        self.potentials(Q, self.places)
        self.precision, self.q = Q, q

    def potentials(self, Q, places):
        q = len(self.places)
        for a, (j, i) in enumerate(self.places):
            if (j, i) in places:
                for x, y, sign in ((a, a, 1), (q + i, q + i, 1), (a, q + i, -1), (q + i, a, -1)):
                    Q[x, y] += sign / self.variances[j]

    @property
    def latent(self):
        """What labels see, as rows over the values and the bias."""
        H = np.zeros((N, self.q + N + 1))
        H[:, -1] = 1.0
        for i in range(N):
            if self.of_mean:
                W = sum(1.0 / self.variances[j] for j in np.flatnonzero(self.presence[i]))
                for a, (j, h) in enumerate(self.places):
                    if h == i:
                        H[i, a] = 1.0 / self.variances[j] / W
            else:
                H[i, self.q + i] = 1.0
        return H

    @property
    def whole(self):
        """Prior precision with the bias."""
        Q = np.zeros((self.q + N + 1,) * 2)
        Q[:-1, :-1] = self.precision
        Q[-1, -1] = 1.0 / self.bias
        return Q

    def mode(self, targets, labeled):
        """Sites at the mode: curvatures (N,), and the mode of the latent values."""
        H, w = self.latent[labeled], np.zeros(self.q + N + 1)
        for _ in range(100):
            f = H @ w
            g, phi = targets[labeled] * expit(-targets[labeled] * f), expit(f) * expit(-f)
            w = w + solve(self.whole + (H.T * phi) @ H, H.T @ g - self.whole @ w)
        curvatures = np.zeros(N)
        curvatures[labeled] = expit(H @ w) * expit(-H @ w)
        return curvatures

    def covariance(self, curvatures):
        """Posterior covariance of what labels see (N, N)."""
        H = self.latent
        return H @ solve(self.whole + (H.T * curvatures) @ H, H.T)

    def consensus_covariance(self, curvatures):
        """That of the consensus function alone (N, N); the bias is integrated out."""
        H = self.latent
        return inv(self.whole + (H.T * curvatures) @ H)[self.q : -1, self.q : -1]


def measured(tables, presence, i, j, value):
    tables, presence = [table.copy() for table in tables], presence.copy()
    tables[j][i], presence[i, j] = value, True
    return tables, presence


def model(latent, cls=BayesianCoTrainingClassifier, **changes):
    """Linear kernels without a constant and without scaling."""
    return cls(
        [DotProduct(0, "fixed")] * N_VIEWS,
        view_variances=VARIANCES.tolist(),
        latent=latent,
        hyperparameters="fixed",
        bias_variance=BIAS,
        **changes,
    )


def wanted(gain, tables, presence, codes, labeled, every=1):
    """Expectation of ``gain(i, j, value)`` over the means of the components, for missing pairs."""
    found = {}
    for i, j in np.argwhere(~presence)[::every]:
        label = float(codes[i]) if labeled[i] else None
        weights = weights_of(i, tables, presence, label)
        values = [means[j] for _, _, means, _ in components()]
        found[int(i), f"v{j}"] = sum(p * gain(i, j, x) for p, x in zip(weights, values, strict=True) if p > 0.0)
    return found


def got(estimator, tables, presence, codes, labeled, **options):
    views = Views(tables, names=[f"v{j}" for j in range(N_VIEWS)], presence=presence)
    y = np.where(labeled, codes, np.nan)
    options = {"density": density(), "expectation": "point_mass"} | options
    table = view_utilities(estimator, views, y, **options)
    return {(i, view): u for i, view, u in zip(table["sample"], table["view"], table["utility"], strict=True)}


def compare(found, want, rtol):
    assert found.keys() == want.keys()
    for pair, value in want.items():
        assert found[pair] == pytest.approx(value, rel=rtol, abs=1e-7), pair


@pytest.mark.parametrize("approximation", ["exact", "low_rank"])
@pytest.mark.parametrize("seed", [0, 1])
def test_information_of_the_consensus_function_of_four_views(approximation, seed):
    tables, presence, codes, labeled = data(seed)
    targets = 2.0 * codes - 1.0
    before = Dense(tables, presence, of_mean=False)
    curvatures = before.mode(targets, labeled)
    left = slogdet(before.consensus_covariance(curvatures))[1]

    def gain(i, j, value):
        after = Dense(*measured(tables, presence, i, j, value), of_mean=False)
        return 0.5 * (left - slogdet(after.consensus_covariance(curvatures))[1])

    want = wanted(gain, tables, presence, codes, labeled)
    estimator = model("consensus", approximation=approximation)
    compare(got(estimator, tables, presence, codes, labeled, criterion="mutual_information"), want, 1e-4)


@pytest.mark.parametrize("approximation", ["exact", "low_rank"])
def test_information_of_the_functions_of_four_views(approximation):
    """The mean of the views: what a value tells of all functions is the potential that it adds, and its move of the site."""
    tables, presence, codes, labeled = data(2)
    curvatures = Dense(tables, presence, of_mean=True).mode(2.0 * codes - 1.0, labeled)

    def information(place, later, moved):
        """Log determinant of the posterior with the new value's function as a further unknown."""
        Q = np.zeros((later.q + N,) * 2)
        Q[: later.q, : later.q] = later.views_precision
        later.potentials(Q, [p for p in later.places if moved or p != place])
        whole = np.zeros((len(Q) + 1,) * 2)
        whole[:-1, :-1], whole[-1, -1] = Q, 1.0 / BIAS
        H = later.latent if moved else later.without(place)
        return 0.5 * slogdet(whole + (H.T * curvatures) @ H)[1]

    class Later(Dense):
        def without(self, place):
            """What labels see where the value is not known: the shares of the other views."""
            H = self.latent
            i = place[1]
            W = sum(1.0 / VARIANCES[j] for j in np.flatnonzero(self.presence[i]) if j != place[0])
            H[i, : self.q] = 0.0
            for a, (j, h) in enumerate(self.places):
                if h == i and j != place[0]:
                    H[i, a] = 1.0 / VARIANCES[j] / W
            return H

    def gain(i, j, value):
        later = Later(*measured(tables, presence, i, j, value), of_mean=True)
        # integrating the consensus function out leaves W_i behind, which is no part of what is told of the views
        W = [presence[i] @ (1.0 / VARIANCES)]
        W.append(W[0] + 1.0 / VARIANCES[j])
        told = information((j, i), later, True) - information((j, i), later, False)
        return told - 0.5 * np.log(W[1] / W[0])

    want = wanted(gain, tables, presence, codes, labeled)
    estimator = model("mean", approximation=approximation)
    compare(got(estimator, tables, presence, codes, labeled, criterion="mutual_information"), want, 1e-4)


@pytest.mark.parametrize("latent", ["mean", "consensus"])
@pytest.mark.parametrize("approximation", ["exact", "low_rank"])
@pytest.mark.parametrize("over", ["all", "unlabeled"])
def test_variances_with_four_views(latent, approximation, over):
    tables, presence, codes, labeled = data(3)
    of_mean = latent == "mean"
    before = Dense(tables, presence, of_mean=of_mean)
    curvatures = before.mode(2.0 * codes - 1.0, labeled)
    rows = np.arange(N) if over == "all" else np.flatnonzero(~labeled)
    variances = np.diagonal(before.covariance(curvatures))

    def gain(i, j, value):
        after = Dense(*measured(tables, presence, i, j, value), of_mean=of_mean)
        return (variances - np.diagonal(after.covariance(curvatures)))[rows].sum()

    want = wanted(gain, tables, presence, codes, labeled)
    estimator = model(latent, approximation=approximation)
    compare(got(estimator, tables, presence, codes, labeled, criterion="a_optimality", over=over), want, 1e-4)
    found = got(estimator, tables, presence, codes, labeled, criterion="variance")
    compare(found, {pair: variances[pair[0]] for pair in found}, 1e-4)


def test_averages_are_scored_at_their_best_setting():
    """Features of that setting in place of the tables, its scale, its sites: the dense computation says the same."""
    tables, presence, codes, labeled = data(7)
    grid = [
        {"kernels": kernel, "center": True, "n_components": 5, "view_variances": level, "amplitude": amplitude}
        for kernel in ("linear", "rbf")
        for level in (0.1, 1.0)
        for amplitude in (1.0, 4.0)
    ]
    averaged = BayesianCoTrainingClassifier(settings=grid)
    names = [f"v{j}" for j in range(N_VIEWS)]
    averaged.fit(Views(tables, names=names, presence=presence), np.where(labeled, codes, np.nan))
    posterior = averaged.consensus_posterior(features=True)
    scale = posterior.latent.scale
    settings = {
        "variances": scale * posterior.prior.consensus.weights.variances,
        "bias": posterior.latent.bias_variance,
    }
    curvatures = np.zeros(N)
    curvatures[posterior.labeled] = posterior.curvatures[0]

    def of_features(values):
        return [np.sqrt(scale) * posterior.view_features(name, x) for name, x in zip(names, values, strict=True)]

    variances = np.diagonal(Dense(of_features(tables), presence, of_mean=True, **settings).covariance(curvatures))

    def gain(i, j, value):
        filled, shown = measured(tables, presence, i, j, value)
        after = Dense(of_features(filled), shown, of_mean=True, **settings)
        return (variances - np.diagonal(after.covariance(curvatures))).sum()

    want = wanted(gain, tables, presence, codes, labeled)
    compare(got(averaged, tables, presence, codes, labeled, criterion="a_optimality"), want, 1e-3)


@pytest.mark.parametrize("criterion", ["mutual_information", "a_optimality"])
def test_quadrature_of_a_view_of_three_features_is_the_mean_over_draws(criterion):
    tables, presence, codes, labeled = data(4)
    curvatures = Dense(tables, presence, of_mean=False).mode(2.0 * codes - 1.0, labeled)
    before = Dense(tables, presence, of_mean=False)
    rng = np.random.default_rng(0)
    found = got(model("consensus"), tables, presence, codes, labeled, criterion=criterion, expectation="quadrature")
    i = next(i for i in range(N) if not presence[i, 2] and not labeled[i])
    weights = weights_of(i, tables, presence, None)
    gains = []
    for k in rng.choice(len(weights), size=150, p=weights):
        _, _, means, covariances = components()[k]
        after = Dense(
            *measured(tables, presence, i, 2, rng.multivariate_normal(means[2], covariances[2])), of_mean=False
        )
        if criterion == "a_optimality":
            gains.append(np.trace(before.covariance(curvatures)) - np.trace(after.covariance(curvatures)))
        else:
            dets = [slogdet(one.consensus_covariance(curvatures))[1] for one in (before, after)]
            gains.append(0.5 * (dets[0] - dets[1]))
    error = np.std(gains) / np.sqrt(len(gains))
    assert abs(found[i, "v2"] - np.mean(gains)) < 4.0 * error


def test_regression_with_four_views():
    tables, presence, codes, labeled = data(5)
    noise = 0.3
    before = Dense(tables, presence, of_mean=True)
    curvatures = labeled / noise
    variances = np.diagonal(before.covariance(curvatures))

    def gain(i, j, value):
        after = Dense(*measured(tables, presence, i, j, value), of_mean=True)
        return (variances - np.diagonal(after.covariance(curvatures))).sum()

    want = wanted(gain, tables, presence, codes, labeled & False)
    estimator = model("mean", BayesianCoTrainingRegressor, noise_variance=noise)
    found = got(estimator, tables, presence, codes, labeled, criterion="a_optimality", density=unlabeled_density())
    compare(found, want, 1e-4)


def unlabeled_density():
    parts = components()
    covariances = np.zeros((len(parts), sum(WIDTHS), sum(WIDTHS)))
    at = np.cumsum([0, *WIDTHS])
    for k, part in enumerate(parts):
        for j in range(N_VIEWS):
            covariances[k, at[j] : at[j + 1], at[j] : at[j + 1]] = part[3][j]
    weights = [(0.4, 0.6)[int(c)] * weight for c, weight, _, _ in parts]
    means = [np.concatenate(part[2]) for part in parts]
    return IncompleteGaussianMixture.from_parameters(weights, means, covariances, view_n_features=list(WIDTHS))


@pytest.mark.parametrize(("latent", "amplitude", "apart"), [("mean", 8.0, 0.3), ("consensus", 40.0, 0.3)])
def test_expected_entropy_ranks_as_models_fitted_again_with_each_value(latent, amplitude, apart):
    """One Newton step against a fit to its end; ``apart`` is a share of the range of all utilities."""
    tables, presence, codes, labeled = data(6)
    estimator = model(latent, approximation="low_rank", amplitude=amplitude)

    def entropy(tables, presence):
        views = Views(tables, names=[f"v{j}" for j in range(N_VIEWS)], presence=presence)
        p = clone(estimator).fit(views, np.where(labeled, codes, np.nan)).label_distributions_[~labeled]
        return -(p * np.log(p)).sum()

    left = entropy(tables, presence)
    want = wanted(
        lambda i, j, value: left - entropy(*measured(tables, presence, i, j, value)),
        *(tables, presence, codes, labeled),
        every=2,
    )
    # so many draws by systematic sampling stand for the weights of the components
    found = got(estimator, tables, presence, codes, labeled, criterion="expected_entropy", n_draws=400)
    slow, fast = (np.array([table[pair] for pair in want]) for table in (want, found))
    assert spearmanr(slow, fast).statistic > 0.95
    assert np.abs(slow - fast).max() < apart * np.ptp(slow)
