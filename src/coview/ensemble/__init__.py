"""Classifiers and regressors of single views, put together afterwards: late fusion."""

from coview.ensemble._voting import ViewVotingClassifier

__all__ = ["ViewVotingClassifier"]
