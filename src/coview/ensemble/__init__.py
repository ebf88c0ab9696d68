"""Classifiers and regressors of single views and of their unions, put together afterwards: late fusion."""

from coview.ensemble._result_vector import result_vector_vote
from coview.ensemble._subsets import view_subsets
from coview.ensemble._view_ensemble import ViewEnsembleClassifier
from coview.ensemble._voting import ViewVotingClassifier
from coview.ensemble._voting_regressor import ViewVotingRegressor

__all__ = [
    "ViewEnsembleClassifier",
    "ViewVotingClassifier",
    "ViewVotingRegressor",
    "result_vector_vote",
    "view_subsets",
]
