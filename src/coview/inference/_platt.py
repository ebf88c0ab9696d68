"""Probabilities from scores: a sigmoid fitted to scores of samples whose label the scores did not see."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

__all__ = ["PlattScaling"]

Array = NDArray[np.float64]

_MAX_ITER = 100
_SMALLEST_STEP = 1e-10


@dataclass(frozen=True)
class PlattScaling:
    r"""Sigmoid of a score, :math:`1 / (1 + \exp(A f + B))`.

    Attributes
    ----------
    slope, offset : float
        A (negative where larger scores speak for the positive class) and B.

    Notes
    -----
    Platt (1999), with his targets :math:`(N_+ + 1) / (N_+ + 2)` and :math:`1 / (N_- + 2)`, which keep probabilities away
    from 0 and 1 where labels are few; Newton steps with halving (Lin, Lin and Weng 2007), O(n) each.

    Examples
    --------
    >>> import numpy as np
    >>> from coview.inference import PlattScaling
    >>> scaling = PlattScaling.fit(np.array([-2.0, -1.0, 1.0, 2.0]), np.array([False, False, True, True]))
    >>> scaling.probability(np.array([-3.0, 0.0, 3.0])).round(2).tolist()
    [0.12, 0.5, 0.88]
    """

    slope: float
    offset: float

    @classmethod
    def fit(cls, scores: Array, positive: NDArray[np.bool_]) -> PlattScaling:
        """The most probable sigmoid.

        Parameters
        ----------
        scores : ndarray of shape (n_samples,)
            Best of samples left out of the fit that scores them: scores that have seen the label promise too much.
        positive : ndarray of shape (n_samples,), dtype=bool

        Returns
        -------
        scaling : PlattScaling
            Constant (slope 0) where the scores are all equal, where one class has no sample, or where larger scores speak
            against the positive class.

        Raises
        ------
        ValueError
            If there is no sample or a score is not finite.
        """
        if not len(scores):
            raise ValueError("Probabilities need scores of labeled samples, and there are none. Label at least one.")
        if not np.isfinite(scores).all():
            raise ValueError(f"Scores must be finite; {int((~np.isfinite(scores)).sum())} of {len(scores)} are not.")
        n_positive, n_negative = int(positive.sum()), int((~positive).sum())
        targets = np.where(positive, (n_positive + 1.0) / (n_positive + 2.0), 1.0 / (n_negative + 2.0))
        mean = float(targets.mean())
        constant = cls(0.0, float(np.log1p(-mean) - np.log(mean)))
        center, spread = float(scores.mean()), float(scores.std())
        if not n_positive or not n_negative or spread <= 1e-12 * max(abs(center), np.finfo(float).tiny):
            return constant
        slope, offset = _newton((scores - center) / spread, targets, constant.offset)
        if slope >= 0.0:
            return constant
        return cls(slope / spread, offset - slope * center / spread)

    def probability(self, scores: Array) -> Array:
        """Probability of the positive class, in the shape of the scores; NaN stays NaN."""
        return np.asarray(expit(-(self.slope * scores + self.offset)))


def _newton(z: Array, targets: Array, offset: float) -> tuple[float, float]:
    """Minimum of the cross entropy over slope and offset, for scores of mean 0 and spread 1."""
    design = np.column_stack([z, np.ones(len(z))])
    at = np.array([0.0, offset])
    loss = _cross_entropy(design @ at, targets)
    for _ in range(_MAX_ITER):
        p = expit(-(design @ at))
        gradient = design.T @ (targets - p)
        curvature = (design * (p * (1.0 - p))[:, None]).T @ design + 1e-12 * np.eye(2)
        direction = -np.linalg.solve(curvature, gradient)
        if abs(gradient @ direction) < 1e-14 * (1.0 + loss):
            break
        step, slope = 1.0, float(gradient @ direction)
        while step > _SMALLEST_STEP:
            new = at + step * direction
            new_loss = _cross_entropy(design @ new, targets)
            if new_loss < loss + 1e-4 * step * slope:
                break
            step *= 0.5
        else:
            break
        at, loss = new, new_loss
    return float(at[0]), float(at[1])


def _cross_entropy(eta: Array, targets: Array) -> float:
    """Of probabilities ``1 / (1 + exp(eta))``."""
    return float(np.sum(np.logaddexp(0.0, eta) - (1.0 - targets) * eta))
