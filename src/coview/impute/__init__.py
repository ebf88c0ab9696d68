"""Missing values integrated out or filled in."""

from coview.impute._conditional_mean import ConditionalMeanImputer
from coview.impute._expected_kernel import expected_linear_kernel, expected_polynomial_kernel, expected_rbf_kernel
from coview.impute._expected_kernel_transformer import ExpectedKernelTransformer

__all__ = [
    "ConditionalMeanImputer",
    "ExpectedKernelTransformer",
    "expected_linear_kernel",
    "expected_polynomial_kernel",
    "expected_rbf_kernel",
]
