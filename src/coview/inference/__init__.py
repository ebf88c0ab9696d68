"""Posteriors, evidences and averages: arrays in, arrays out."""

from coview.inference._averaging import RunningMixture, Weighting, averaging_weights, weighted_quantile
from coview.inference._bregman_divergences import BregmanDivergence, bregman_divergence
from coview.inference._bregman_k_means import bregman_k_means
from coview.inference._bregman_linkage import BregmanView, bregman_linkage
from coview.inference._classes import class_probabilities, leave_one_out_class_scores, mixed_probabilities
from coview.inference._co_em import (
    CoEM,
    CoEMState,
    ViewSamples,
    averaged_posterior,
    joint_log_density,
    local_posterior,
)
from coview.inference._co_em_starts import (
    clustered_responsibilities,
    comparable_rows,
    labeled_responsibilities,
    random_responsibilities,
)
from coview.inference._co_regularization import CoRegularizedViews, ViewCoefficients
from coview.inference._co_regularized_logistic import (
    LogisticPrior,
    LogisticViews,
    PriorPrecisions,
    gaussian_affinity,
    weight_precision,
)
from coview.inference._co_regularized_logistic_fit import (
    GammaPriors,
    LearnedLogistic,
    LogisticDesign,
    LogisticMode,
    PrecisionTerms,
    learn_logistic,
    most_probable_weights,
)
from coview.inference._combination_rules import accuracy_weights, mean_shares, product_shares, vote_counts
from coview.inference._component_choice import choose_n_components
from coview.inference._component_distributions import (
    CategoricalComponents,
    ComponentDistribution,
    GaussianComponents,
    MultinomialComponents,
    full_covariances,
)
from coview.inference._consensus import DenseConsensus, Experts, NewGrams, combine_experts
from coview.inference._dense_covariance import DenseCovariance
from coview.inference._dense_view_posterior import DenseSlope, DenseViewPosterior
from coview.inference._disagreement import (
    SpectralEmbedding,
    affinity_embedding,
    disagreement_embedding,
    mean_of_rows,
    unit_rows,
)
from coview.inference._em import GIVEN_START_PLATEAU, EMRun, best_em_run, run_em, warn_unless_converged
from coview.inference._entropies import label_information, predictive_entropies
from coview.inference._evidence import EvidenceMaximum, maximize_evidence
from coview.inference._factor_em import FactorData, factor_em, factor_responsibilities
from coview.inference._factor_mixture import FactorParameters, FactorPosterior, factor_posterior
from coview.inference._factor_start import factor_starts, is_given_in_full, observed_moments
from coview.inference._factored_covariance import FactoredCovariance
from coview.inference._feature_consensus import FeatureConsensus, NewFeatures
from coview.inference._feature_evidence import FeatureEvidence, FeatureGradient
from coview.inference._feature_posterior import ConsensusFeaturePosterior, FeaturePosterior
from coview.inference._feature_rows import FeatureRows, HeldFeatures, ScaledFeatures, row_slices
from coview.inference._feature_sums import FeatureSums, PatternGrams, RowSums, feature_sums
from coview.inference._feature_view_posterior import FeatureSlope, FeatureViewPosterior
from coview.inference._gaussian_conditionals import (
    FactorConditional,
    GaussianConditional,
    IndependentConditional,
    condition_components,
    condition_gaussian,
    covariance_root,
)
from coview.inference._gaussian_mixture import GaussianMixtureEM, GaussianMixtureParameters, mixture_posterior
from coview.inference._gaussian_moments import EstimationRules
from coview.inference._gaussian_start import (
    clustered_gaussian_start,
    feature_variances,
    gaussian_start,
    labeled_gaussian_start,
)
from coview.inference._hybrid_tree import HybridTree, hybrid_tree
from coview.inference._kernel_blocks import Constants, KernelBlock, KernelFeatures, KernelValues, kernel_block
from coview.inference._labeled_covariance import (
    LabeledCovariance,
    concatenated,
    factored_width,
    labeled_covariance,
)
from coview.inference._laplace import LaplaceFit, laplace_fit
from coview.inference._latent_posterior import LatentPosterior
from coview.inference._left_out import left_out_elsewhere
from coview.inference._local_hyperplanes import HyperplaneDistances, first_of_least, hyperplane_distances
from coview.inference._logistic_information import (
    LogisticChange,
    LogisticPosterior,
    certain_view_information,
    logistic_change,
    logistic_label_information,
    logistic_view_information,
    one_against_rest_entropies,
)
from coview.inference._logistic_information_moments import (
    HeldView,
    curvature_moments,
    expected_curvature,
    expected_smoothness,
)
from coview.inference._logistic_normal import logistic_normal_mean, moderated_logit
from coview.inference._measurement_effects import (
    LabelSites,
    MeasurementEffects,
    MeasurementPosterior,
    Measurements,
)
from coview.inference._missingness import MissingnessPattern, missingness_patterns
from coview.inference._multi_view_k_means import MeansView, MultiViewMeans, multi_view_k_means
from coview.inference._nearest_rows import nearest_rows, squared_distance_blocks
from coview.inference._neighbor_votes import confidence_weights, inverse_square_shares, neighbor_confidences
from coview.inference._pair_weights import Patterns
from coview.inference._platt import PlattScaling
from coview.inference._posterior import CrossPosterior, latent_posteriors
from coview.inference._posterior_consistency import ConsistencyValue, PosteriorConsistency, gaussian_divergences
from coview.inference._priors import ConsensusPrior, JointFeatures, JointPrior, MeanPrior, Prior
from coview.inference._quadratic_program import (
    BoxProgram,
    Curvature,
    DenseCurvature,
    FactoredCurvature,
    solve_box_program,
)
from coview.inference._regression import FactoredRegressionFit, RegressionFit, gaussian_log_density, regression_fit
from coview.inference._result_vectors import mismatch_counts, result_vector_votes
from coview.inference._shares import ViewWeights, rows_without_view
from coview.inference._signed_squares import SignedSquares
from coview.inference._tied_kernels import ITERATIVE_FROM, LARGEST_SYSTEM, TiedKernels
from coview.inference._tied_machines import TiedMachines, TiedSolution
from coview.inference._view_information import ViewAdditions, consensus_covariances, view_additions
from coview.inference._view_moments import combine_view_moments
from coview.inference._view_scores import (
    ViewScoreCalibration,
    classes_of_scores,
    drop_only_column,
    mean_scores,
    signs_of,
)
from coview.inference._view_spectra import (
    AffinityView,
    balanced_coupling,
    co_regularized_spectra,
    co_trained_spectra,
    fused_network,
    shared_directions,
)

__all__ = [
    "GIVEN_START_PLATEAU",
    "ITERATIVE_FROM",
    "LARGEST_SYSTEM",
    "AffinityView",
    "BoxProgram",
    "BregmanDivergence",
    "BregmanView",
    "CategoricalComponents",
    "CoEM",
    "CoEMState",
    "CoRegularizedViews",
    "ComponentDistribution",
    "ConsensusFeaturePosterior",
    "ConsensusPrior",
    "ConsistencyValue",
    "Constants",
    "CrossPosterior",
    "Curvature",
    "DenseConsensus",
    "DenseCovariance",
    "DenseCurvature",
    "DenseSlope",
    "DenseViewPosterior",
    "EMRun",
    "EstimationRules",
    "EvidenceMaximum",
    "Experts",
    "FactorConditional",
    "FactorData",
    "FactorParameters",
    "FactorPosterior",
    "FactoredCovariance",
    "FactoredCurvature",
    "FactoredRegressionFit",
    "FeatureConsensus",
    "FeatureEvidence",
    "FeatureGradient",
    "FeaturePosterior",
    "FeatureRows",
    "FeatureSlope",
    "FeatureSums",
    "FeatureViewPosterior",
    "GammaPriors",
    "GaussianComponents",
    "GaussianConditional",
    "GaussianMixtureEM",
    "GaussianMixtureParameters",
    "HeldFeatures",
    "HeldView",
    "HybridTree",
    "HyperplaneDistances",
    "IndependentConditional",
    "JointFeatures",
    "JointPrior",
    "KernelBlock",
    "KernelFeatures",
    "KernelValues",
    "LabelSites",
    "LabeledCovariance",
    "LaplaceFit",
    "LatentPosterior",
    "LearnedLogistic",
    "LogisticChange",
    "LogisticDesign",
    "LogisticMode",
    "LogisticPosterior",
    "LogisticPrior",
    "LogisticViews",
    "MeanPrior",
    "MeansView",
    "MeasurementEffects",
    "MeasurementPosterior",
    "Measurements",
    "MissingnessPattern",
    "MultiViewMeans",
    "MultinomialComponents",
    "NewFeatures",
    "NewGrams",
    "PatternGrams",
    "Patterns",
    "PlattScaling",
    "PosteriorConsistency",
    "PrecisionTerms",
    "Prior",
    "PriorPrecisions",
    "RegressionFit",
    "RowSums",
    "RunningMixture",
    "ScaledFeatures",
    "SignedSquares",
    "SpectralEmbedding",
    "TiedKernels",
    "TiedMachines",
    "TiedSolution",
    "ViewAdditions",
    "ViewCoefficients",
    "ViewSamples",
    "ViewScoreCalibration",
    "ViewWeights",
    "Weighting",
    "accuracy_weights",
    "affinity_embedding",
    "averaged_posterior",
    "averaging_weights",
    "balanced_coupling",
    "best_em_run",
    "bregman_divergence",
    "bregman_k_means",
    "bregman_linkage",
    "certain_view_information",
    "choose_n_components",
    "class_probabilities",
    "classes_of_scores",
    "clustered_gaussian_start",
    "clustered_responsibilities",
    "co_regularized_spectra",
    "co_trained_spectra",
    "combine_experts",
    "combine_view_moments",
    "comparable_rows",
    "concatenated",
    "condition_components",
    "condition_gaussian",
    "confidence_weights",
    "consensus_covariances",
    "covariance_root",
    "curvature_moments",
    "disagreement_embedding",
    "drop_only_column",
    "expected_curvature",
    "expected_smoothness",
    "factor_em",
    "factor_posterior",
    "factor_responsibilities",
    "factor_starts",
    "factored_width",
    "feature_sums",
    "feature_variances",
    "first_of_least",
    "full_covariances",
    "fused_network",
    "gaussian_affinity",
    "gaussian_divergences",
    "gaussian_log_density",
    "gaussian_start",
    "hybrid_tree",
    "hyperplane_distances",
    "inverse_square_shares",
    "is_given_in_full",
    "joint_log_density",
    "kernel_block",
    "label_information",
    "labeled_covariance",
    "labeled_gaussian_start",
    "labeled_responsibilities",
    "laplace_fit",
    "latent_posteriors",
    "learn_logistic",
    "leave_one_out_class_scores",
    "left_out_elsewhere",
    "local_posterior",
    "logistic_change",
    "logistic_label_information",
    "logistic_normal_mean",
    "logistic_view_information",
    "maximize_evidence",
    "mean_of_rows",
    "mean_scores",
    "mean_shares",
    "mismatch_counts",
    "missingness_patterns",
    "mixed_probabilities",
    "mixture_posterior",
    "moderated_logit",
    "most_probable_weights",
    "multi_view_k_means",
    "nearest_rows",
    "neighbor_confidences",
    "observed_moments",
    "one_against_rest_entropies",
    "predictive_entropies",
    "product_shares",
    "random_responsibilities",
    "regression_fit",
    "result_vector_votes",
    "row_slices",
    "rows_without_view",
    "run_em",
    "shared_directions",
    "signs_of",
    "solve_box_program",
    "squared_distance_blocks",
    "unit_rows",
    "view_additions",
    "vote_counts",
    "warn_unless_converged",
    "weight_precision",
    "weighted_quantile",
]
