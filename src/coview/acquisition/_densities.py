"""What a missing view may hold: values and their probabilities, for every sample that lacks it."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtri
from scipy.stats import qmc
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from coview.exceptions import ViewError
from coview.inference import covariance_root
from coview.mixture import ClassConditionalGaussianMixture, IncompleteGaussianMixture
from coview.views import Views, some

__all__ = ["GrowingDensity", "PossibleValues", "ViewDensity", "resolve_density"]

Array = NDArray[np.float64]

# One feature: trapezoid rule on this many standard deviations to both sides; more: as many quasi-random points.
_REACH, _NODES, _POINTS = 8.5, 401, 256
# Covariances of wider views are not estimated.
_WIDEST = 100
# Covariances are held as matrices of all features.
_MOST = 5000
# With so many times as many known views as at the last fit from the beginning, the next one begins anew.
_GROWTH = 1.25


@dataclass(frozen=True)
class PossibleValues:
    """Values that one view may take for some samples.

    Attributes
    ----------
    values : ndarray of shape (n_values, p_j)
    weights : ndarray of shape (n_samples, n_values), or (n_samples, k)
        Rows sum to one; in the second form sample c has values c k to c k + k - 1 to itself.
    """

    values: Array
    weights: Array

    @property
    def own(self) -> bool:
        """Whether each sample has its own values."""
        return bool(self.weights.shape[1] != len(self.values))

    def draws(self, n_draws: int, rng: np.random.RandomState) -> NDArray[np.intp]:
        """Positions of equally probable values for each sample (n_samples, n_draws), by systematic sampling.

        All samples share the random numbers, so that comparisons between them do not depend on luck.
        """
        steps = np.cumsum(self.weights, axis=1)
        steps /= steps[:, -1:]
        picks = (np.arange(n_draws) + rng.uniform()) / n_draws
        n, k = steps.shape
        row = np.arange(n)[:, None]
        # one search through the steps of all rows, row by row between one whole number and the next
        chosen = np.searchsorted((steps + row).ravel(), (picks + row).ravel()).reshape(n, n_draws)
        within = np.asarray(np.clip(chosen - row * k, 0, k - 1), dtype=np.intp)
        return np.asarray(within + row * k) if self.own else within


class ViewDensity:
    """A fitted mixture, conditioned on what samples show.

    Parameters
    ----------
    density : ClassConditionalGaussianMixture or IncompleteGaussianMixture
    views : Views
    labels : ndarray of shape (n_samples,) or None
        Classes, None where unlabeled; used by densities that know classes.
    random_state : int
        Seeds quasi-random points.
    """

    def __init__(self, density: Any, views: Views, labels: NDArray[Any] | None, random_state: int) -> None:
        self._density = density
        self._seed = random_state
        knows = labels is not None and hasattr(density, "classes_")
        self._conditional = density.conditional(views, labels) if knows else density.conditional(views)
        widths = np.cumsum([0, *views.n_features.values()])
        self._columns = {name: np.arange(widths[j], widths[j + 1]) for j, name in enumerate(views.names)}
        self._presence = views.presence

    def values(self, view: str, samples: NDArray[np.intp], *, expectation: str) -> PossibleValues:
        """What the view may hold for samples that lack it.

        Views that are independent given the component have the same values for all samples, at different probabilities.
        """
        columns, mixing = self._columns[view], self._conditional.weights[samples]
        if getattr(self._density, "covariance_type", "full") in ("view", "diag"):
            used = np.flatnonzero(mixing.max(axis=0, initial=0.0) > 0.0)
            means = self._density.means_[used][:, columns]
            covariances = self._density.covariances_[used][:, columns[:, None], columns]
            independent = self._density.covariance_type == "diag"
            roots = [np.diag(np.sqrt(C.diagonal())) if independent else covariance_root(C) for C in covariances]
            return _shared_values(mixing[:, used], means, roots, expectation, self._seed)
        return self._own_values(columns, samples, mixing, expectation)

    def _own_values(
        self, columns: NDArray[np.intp], samples: NDArray[np.intp], mixing: Array, expectation: str
    ) -> PossibleValues:
        """Values of each sample; covariances are those of its pattern of views."""
        noise, weights = _standard_values(columns.size, expectation, self._seed)
        values = np.empty((len(samples), mixing.shape[1], len(weights), columns.size))
        values[...] = self._conditional.means[samples][:, :, columns][:, :, None]
        _, first, pattern = np.unique(self._presence[samples], axis=0, return_index=True, return_inverse=True)
        for position, at in enumerate(first):
            row = self._conditional[int(samples[at])]
            inside = np.searchsorted(row.missing, columns)
            rows = np.flatnonzero(pattern.ravel() == position)
            for k, covariance in enumerate(row.covariances):
                values[rows, k] += noise @ covariance_root(covariance[np.ix_(inside, inside)]).T
        each = (mixing[:, :, None] * weights).reshape(len(samples), -1)
        return PossibleValues(values.reshape(-1, columns.size), each)


def _shared_values(mixing: Array, means: Array, roots: list[Array], expectation: str, seed: int) -> PossibleValues:
    """The values of all components, weighted by sample."""
    noise, weights = _standard_values(means.shape[1], expectation, seed)
    parts = [mean + noise @ root.T for mean, root in zip(means, roots, strict=True)]
    each = (mixing[:, :, None] * weights).reshape(len(mixing), -1)
    return PossibleValues(np.concatenate(parts), each)


def _standard_values(n_features: int, expectation: str, seed: int) -> tuple[Array, Array]:
    """Values (n, n_features) and weights that stand for a standard Gaussian.

    The trapezoid rule converges faster than any power for smooth functions; Gauss-Hermite nodes do not where a kernel is
    narrower than the Gaussian.
    """
    if expectation == "point_mass":
        return np.zeros((1, n_features)), np.ones(1)
    if n_features == 1:
        z = np.linspace(-_REACH, _REACH, _NODES)
        density = np.exp(-0.5 * z * z)
        return z[:, None], density / density.sum()
    sobol = qmc.Sobol(n_features, rng=np.random.default_rng(seed))
    return ndtri(np.clip(sobol.random(_POINTS), 1e-12, 1.0 - 1e-12)), np.full(_POINTS, 1.0 / _POINTS)


def resolve_density(density: Any, views: Views, labels: NDArray[Any] | None, random_state: int) -> Any:
    """A fitted density: the one given, fitted if it is not yet, or the automatic one.

    "auto" is a mixture for each class with covariances of views, which all classes share where one has fewer than ten labels;
    for regression, and where no sample has a label, one Gaussian over all views. Views of more than 100 features have
    independent features.
    """
    if isinstance(density, str):
        if density != "auto":
            raise ValueError(f"density must be 'auto' or a mixture of coview.mixture; got {density!r}.")
        _refuse_views(views)
        wide = max(views.n_features.values()) > _WIDEST
        if labels is None or all(label is None for label in labels):
            labels = None
            kind = "diag" if views.shape[1] > _WIDEST else "full"
            density = IncompleteGaussianMixture(covariance_type=kind, random_state=random_state)
        else:
            kind = "diag" if wide else "view"
            # unlabeled samples are marked by None here, so that -1 is a class
            density = ClassConditionalGaussianMixture(
                covariance_type=kind, missing_label=None, random_state=random_state
            )
    elif not hasattr(density, "conditional"):
        raise TypeError(f"density must be 'auto' or a mixture of coview.mixture; got {type(density).__name__}.")
    try:
        check_is_fitted(density, "weights_")
    except NotFittedError:
        return clone(density).fit(views, labels)
    return density


def _refuse_views(views: Views) -> None:
    """Refuse views of which no density is estimated; they may be scored by criteria that need none."""
    remedy = "or use a criterion that needs no density: 'variance' or 'random' of views, or any of labels"
    held = [name for name in views.names if sparse.issparse(views[name])]
    if held:
        raise ViewError(
            f"What missing views may hold is estimated for dense views, and {some(held)} {'is' if len(held) == 1 else 'are'} "
            f"sparse. Reduce sparse views first, say with sklearn.decomposition.TruncatedSVD, {remedy}."
        )
    if views.shape[1] > _MOST:
        widest = max(views.names, key=views.n_features.__getitem__)
        raise ViewError(
            f"What missing views may hold is estimated for {_MOST} features of all views together at most; there are "
            f"{views.shape[1]}, {views.n_features[widest]} of them in {widest!r}. Reduce wide views first, say with "
            f"sklearn.decomposition.PCA, {remedy}."
        )


@dataclass(frozen=True)
class GrowingDensity:
    """A density that is fitted again as measurements come in, each fit going on from the last one.

    Starts and the number of components are searched anew once a quarter more views are known than at the last search.

    Attributes
    ----------
    asked : "auto" or mixture of coview.mixture
        As for `resolve_density`; one that is fitted stays as it is.
    fitted : mixture or None
        What the last step left.
    n_known : int
        Known views of all samples at the last search.
    """

    asked: Any
    fitted: Any = None
    n_known: int = 0

    def after(self, views: Views, labels: NDArray[Any] | None, random_state: int) -> GrowingDensity:
        """The same with what is known now.

        Parameters
        ----------
        views : Views
        labels : ndarray of shape (n_samples,) or None
            Classes, None where unlabeled; None for regression.
        random_state : int

        Returns
        -------
        density : GrowingDensity
        """
        n_known = int(views.presence.sum())
        if self.fitted is not None and self.fitted is self.asked:
            return self
        again = self.fitted is None or not hasattr(self.fitted, "warm_start") or n_known > _GROWTH * self.n_known
        if isinstance(self.asked, str) and not again:
            # with the first label classes have densities of their own
            knows = labels is not None and any(label is not None for label in labels)
            again = knows != hasattr(self.fitted, "classes_")
        if again:
            return GrowingDensity(self.asked, resolve_density(self.asked, views, labels, random_state), n_known)
        # what a fit finds replaces what the copy shares with the last one
        fitted = copy.copy(self.fitted).set_params(warm_start=True).fit(views, labels)
        return GrowingDensity(self.asked, fitted, self.n_known)
