"""The cases of ``tests/golden/mvlogit_golden.json``.

Oracle: equations (1)-(22) of Krishnapuram et al. (2005), corrected, by 50-digit arithmetic.
"""

import json
from pathlib import Path

import numpy as np

from coview.linear_model import CoRegularizedLogisticRegression

DOCUMENT = json.loads((Path(__file__).parents[1] / "golden" / "mvlogit_golden.json").read_text(encoding="utf-8"))
OVER = ("all", "unlabeled")
CASES = {case["id"]: case for case in DOCUMENT["cases"]}


def close(got, want):
    """The rule of the file: ``|got - want| <= atol + rtol * max |want|``."""
    got, want = np.asarray(got, dtype=float), np.asarray(want, dtype=float)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-10 + 1e-8 * np.abs(want).max(initial=0.0))


def blocks_of(case):
    """One table per view, NaN where it is missing."""
    widths = [len(case["inputs"]["gmm"][f"means{v}"][0]) for v in (1, 2)]
    return [
        np.array([row if row[0] is not None else [np.nan] * width for row in case["inputs"][f"X{v}"]], dtype=float)
        for v, width in zip((1, 2), widths, strict=True)
    ]


def target_of(case):
    """Labels -1 and +1, NaN where unlabeled."""
    return np.array([np.nan if label is None else label for label in case["inputs"]["y"]], dtype=float)


def model_of(case, over, **parameters):
    """The estimator as the file has it."""
    inputs = case["inputs"]
    return CoRegularizedLogisticRegression(
        ridge=inputs["lambda_i"],
        co_regularization=inputs["lambda_co"],
        smoothness=inputs["lambda_0"],
        smoothness_kernel_variance=inputs["kernel_var"],
        agreement_over=over,
        fit_intercept=False,
        **parameters,
    )


def hyper_priors_of(case):
    """Gamma shape and rate by parameter."""
    names = {"one": "ridge", "co": "co_regularization", "zero": "smoothness"}
    return {names[key]: pair for key, pair in case["inputs"]["hyper"].items()}
