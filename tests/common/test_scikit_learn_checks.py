"""Every estimator passes scikit-learn's own checks, as one view and as two views of alternating columns."""

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from .estimators import ALTERNATING, all_estimators, small

KNOWN = {
    "CoRegularizedLeastSquaresClassifier",
    "CoRegularizedLeastSquaresRegressor",
    "CoRegularizedSVC",
    "LaplacianSVC",
    "LaplacianLeastSquaresClassifier",
    "CoLaplacianSVC",
    "CoLaplacianLeastSquaresClassifier",
    "BayesianCoTrainingClassifier",
    "BayesianCoTrainingRegressor",
    "BregmanAgglomerativeClustering",
    "ClassConditionalGaussianMixture",
    "CoEMClassifier",
    "CoEMMixture",
    "CoRegularizedLogisticRegression",
    "CoTrainingClassifier",
    "CoTrainingRegressor",
    "CoTrainingKernelTransformer",
    "ConditionalMeanImputer",
    "ExpectedKernelTransformer",
    "FactorMixture",
    "FactorMixtureClassifier",
    "HybridHierarchicalClustering",
    "HyperplaneKNeighborsClassifier",
    "HyperplaneKNeighborsClassifierCV",
    "CoRegularizedSpectralClustering",
    "CoTrainingSpectralClustering",
    "MultiViewKMeans",
    "SimilarityNetworkFusion",
    "MultiRepresentedDBSCAN",
    "MultiRepresentedKNeighborsClassifier",
    "IncompleteGaussianMixture",
    "PosteriorConsistencyGPClassifier",
    "PosteriorConsistencyGPClassifierCV",
    "PosteriorConsistencyGPRegressor",
    "MultiViewSpectralClustering",
    "ViewEnsembleClassifier",
    "ViewVotingClassifier",
    "ViewVotingRegressor",
}
NOT_ON_ARRAYS = {
    "TableEncoder",
    "ViewTransformer",
}  # give Views, no arrays: see their own tests
NAMES = sorted(set(all_estimators()) - NOT_ON_ARRAYS)
SEMI_SUPERVISED = {
    "CoRegularizedLeastSquaresClassifier",
    "CoRegularizedSVC",
    "LaplacianSVC",
    "LaplacianLeastSquaresClassifier",
    "CoLaplacianSVC",
    "CoLaplacianLeastSquaresClassifier",
    "BayesianCoTrainingClassifier",
    "ClassConditionalGaussianMixture",
    "CoEMClassifier",
    "CoEMMixture",
    "CoRegularizedLogisticRegression",
    "CoTrainingClassifier",
    "FactorMixtureClassifier",
    "ViewEnsembleClassifier",
    "ViewVotingClassifier",
}


def expected_failures(estimator):
    """Integer labels -1 and +1 are ambiguous for a semi-supervised classifier until ``missing_label`` is given."""
    if type(estimator).__name__ in SEMI_SUPERVISED and estimator.get_params()["missing_label"] == "auto":
        return {"check_classifiers_classes": "integer y with -1 and +1 raises unless missing_label is given"}
    return {}


def instances(make, *, view_columns):
    """As the class comes, and with ``missing_label`` given where there is one."""
    made = [make(name, view_columns=view_columns) for name in NAMES]
    made += [make(name, view_columns=view_columns, missing_label=np.nan) for name in NAMES if name in SEMI_SUPERVISED]
    return made


def default(name, **parameters):
    return all_estimators()[name](**parameters)


def test_the_walk_finds_what_we_know():
    found = all_estimators()
    assert set(found) >= KNOWN
    assert set(NAMES) >= SEMI_SUPERVISED
    assert all(is_classifier(found[name]()) for name in SEMI_SUPERVISED)


@parametrize_with_checks(instances(small, view_columns=None), expected_failed_checks=expected_failures)
def test_one_view(estimator, check):
    check(estimator)


@parametrize_with_checks(instances(small, view_columns=ALTERNATING), expected_failed_checks=expected_failures)
def test_two_views_of_alternating_columns(estimator, check):
    check(estimator)


AVERAGING = sorted(name for name in NAMES if name.startswith("BayesianCoTraining"))


@pytest.mark.slow
@parametrize_with_checks([default(name) for name in AVERAGING], expected_failed_checks=expected_failures)
def test_defaults(estimator, check):
    """The instances a user gets without parameters; for the others they are those above."""
    check(estimator)
