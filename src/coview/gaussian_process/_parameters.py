"""What an evidence is a function of: kernels' parameters, view variances and noise, as one vector of logarithms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import Kernel

from coview.kernels import KernelLike

__all__ = ["Evidence", "Parameters", "theta_of"]


@dataclass(frozen=True)
class Parameters:
    """A point: kernels, view variances and, for regression, the noise variance; infinite view variances stay infinite."""

    kernels: list[KernelLike]
    view_variances: NDArray[np.float64]
    noise_variance: float | None

    @property
    def free(self) -> NDArray[np.intp]:
        """Views whose variance is part of theta."""
        return np.flatnonzero(np.isfinite(self.view_variances))

    @property
    def theta(self) -> NDArray[np.float64]:
        """Natural logarithms: the kernels' thetas in view order, log view variances, log noise; free ones only."""
        parts = [theta_of(kernel) for kernel in self.kernels]
        parts.append(np.log(self.view_variances[self.free]))
        if self.noise_variance is not None:
            parts.append(np.log([self.noise_variance]))
        return np.concatenate(parts)

    def at(self, theta: NDArray[np.float64]) -> Parameters:
        """The point of another theta."""
        theta = np.asarray(theta, dtype=np.float64)
        expected = self.theta.size
        if theta.shape != (expected,):
            raise ValueError(
                f"theta must have {expected} entries: the kernels' thetas in view order, log view variances, log noise; got "
                f"shape {theta.shape}."
            )
        if not np.isfinite(theta).all():
            raise ValueError(
                "theta must be finite: it holds natural logarithms, so give log(variance), not the variance."
            )
        kernels, start = [], 0
        for kernel in self.kernels:
            size = theta_of(kernel).size
            kernels.append(kernel.clone_with_theta(theta[start : start + size]) if size else kernel)
            start += size
        variances = self.view_variances.copy()
        variances[self.free] = np.exp(theta[start : start + self.free.size])
        noise = None if self.noise_variance is None else float(np.exp(theta[-1]))
        return Parameters(kernels, variances, noise)


def theta_of(kernel: KernelLike) -> NDArray[np.float64]:
    """Natural logarithms of the free parameters of a kernel."""
    return np.asarray(kernel.theta) if isinstance(kernel, Kernel) else np.zeros(0)


class Evidence(Protocol):
    """A log marginal likelihood as a function of theta, in nats."""

    @property
    def point(self) -> Parameters:
        """Where theta starts."""

    def value(self, theta: NDArray[np.float64]) -> float:
        """The log marginal likelihood."""

    def value_and_gradient(self, theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The same with its gradient with respect to theta."""
