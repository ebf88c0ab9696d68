"""Classifiers and regressors of single views, put together afterwards: late fusion."""

from coview.ensemble._voting import ViewVotingClassifier
from coview.ensemble._voting_regressor import ViewVotingRegressor

__all__ = ["ViewVotingClassifier", "ViewVotingRegressor"]
