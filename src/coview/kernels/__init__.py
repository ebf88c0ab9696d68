"""From views to covariances between samples."""

from coview.kernels._co_training import (
    co_regularization_precision,
    co_training_kernel,
    co_training_precision,
    dense_consensus,
    mean_consensus_kernel,
    side_information_kernel,
)
from coview.kernels._completion import ViewCompletion
from coview.kernels._derivatives import weighted_derivatives
from coview.kernels._expected import expected_linear_gram, expected_polynomial_gram, expected_rbf_gram
from coview.kernels._expected_rows import ExpectedRows, expected_rows
from coview.kernels._features import JointSpectralFeatures, SpectralFeatures, stack_views, take_samples
from coview.kernels._fused_affinity import CoTrainingAffinity, SharedViewsAffinity
from coview.kernels._landmarks import LandmarkFeatures, LandmarkSpectrum
from coview.kernels._machines import (
    HingeRules,
    KernelMachine,
    held_out_hinge_scores,
    hinge_machine,
    least_squares_machine,
)
from coview.kernels._per_view import (
    KernelLike,
    diagonal,
    gram,
    inner_products,
    kernel_per_view,
    kernel_unit,
    linear_amplitude,
    median_distance,
    resolve_kernel,
    squared_distances,
)
from coview.kernels._precomputed import PrecomputedKernel
from coview.kernels._scaling import ViewScaling
from coview.kernels._span import SpanFeatures, SpanGradient, free_amplitude
from coview.kernels._spectrum import GramSpectrum, LinearSpectrum
from coview.kernels._view_functions import ViewFunctions, ViewKernels
from coview.kernels._warped import WarpedFeatures, WarpedGram, warped_kernel

__all__ = [
    "CoTrainingAffinity",
    "ExpectedRows",
    "GramSpectrum",
    "HingeRules",
    "JointSpectralFeatures",
    "KernelLike",
    "KernelMachine",
    "LandmarkFeatures",
    "LandmarkSpectrum",
    "LinearSpectrum",
    "PrecomputedKernel",
    "SharedViewsAffinity",
    "SpanFeatures",
    "SpanGradient",
    "SpectralFeatures",
    "ViewCompletion",
    "ViewFunctions",
    "ViewKernels",
    "ViewScaling",
    "WarpedFeatures",
    "WarpedGram",
    "co_regularization_precision",
    "co_training_kernel",
    "co_training_precision",
    "dense_consensus",
    "diagonal",
    "expected_linear_gram",
    "expected_polynomial_gram",
    "expected_rbf_gram",
    "expected_rows",
    "free_amplitude",
    "gram",
    "held_out_hinge_scores",
    "hinge_machine",
    "inner_products",
    "kernel_per_view",
    "kernel_unit",
    "least_squares_machine",
    "linear_amplitude",
    "mean_consensus_kernel",
    "median_distance",
    "resolve_kernel",
    "side_information_kernel",
    "squared_distances",
    "stack_views",
    "take_samples",
    "warped_kernel",
    "weighted_derivatives",
]
