"""Gaussian process logistic regression ("GPLR") on a given covariance, the classifier that the methods of the tables share."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from coview.inference import DenseCovariance, laplace_fit, moderated_logit

__all__ = ["LabelFit", "fit_labels"]


@dataclass(frozen=True)
class LabelFit:
    """What the labels say about all samples under one covariance.

    Attributes
    ----------
    mean, variance : ndarray of shape (n_samples,)
        Of the latent function given the labels.
    evidence : float
        Log marginal likelihood of the labels in nats.
    """

    mean: NDArray[np.float64]
    variance: NDArray[np.float64]
    evidence: float

    @property
    def probability(self) -> NDArray[np.float64]:
        """Probability of the positive class (n_samples,), the sigmoid averaged by MacKay's approximation."""
        return np.asarray(expit(moderated_logit(self.mean, self.variance)))


def fit_labels(
    columns: NDArray[np.float64], variances: NDArray[np.float64], labeled: NDArray[np.intp], positive: NDArray[np.bool_]
) -> LabelFit:
    """Laplace's approximation from the labels of some samples.

    Parameters
    ----------
    columns : ndarray of shape (n_samples, n_labeled)
        Prior covariances of all samples with the labeled ones.
    variances : ndarray of shape (n_samples,)
        Prior variances.
    labeled : ndarray of shape (n_labeled,)
        Positions of the labeled samples.
    positive : ndarray of shape (n_labeled,), dtype=bool
        Their labels.

    Returns
    -------
    fit : LabelFit
    """
    fit = laplace_fit(DenseCovariance(columns[labeled][None]), np.where(positive, 1.0, -1.0)[None])
    explained = np.square(columns @ fit.variance_factors[0].T).sum(axis=1)
    variance = np.maximum(variances - explained, 0.0)
    return LabelFit(columns @ fit.gradients[0], variance, float(fit.log_marginal_likelihoods[0]))
