"""What kernels, feature maps and priors depend on, as dictionary keys."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, cast

import numpy as np
from sklearn.gaussian_process.kernels import Kernel

from coview.gaussian_process._setting import Setting

__all__ = ["feature_key", "kernel_key", "prior_key"]


def kernel_key(spec: Any) -> Hashable:
    """A kernel specification as a dictionary key: equal only where every parameter is equal in every digit."""
    if isinstance(spec, Kernel):
        parameters = sorted(spec.get_params(deep=False).items())
        return (type(spec), *((name, kernel_key(value)) for name, value in parameters))
    if isinstance(spec, np.ndarray):
        return (spec.shape, spec.tobytes())
    if isinstance(spec, list | tuple):
        return tuple(kernel_key(item) for item in spec)
    if isinstance(spec, Mapping):
        return tuple((name, kernel_key(item)) for name, item in spec.items())
    return cast("Hashable", spec)


def feature_key(setting: Setting) -> Hashable:
    """What a feature map depends on, its rank apart."""
    factors = setting.view_factors if setting.family != "views" else None
    return (setting.family, kernel_key(setting.kernels), setting.center, setting.scale, factors)


def prior_key(setting: Setting) -> tuple[Hashable, ...]:
    """What a prior depends on."""
    return (feature_key(setting), setting.n_components, setting.view_variances, setting.view_factors)
