"""Linear models of several views."""

from coview.linear_model._co_regularized_logistic import CoRegularizedLogisticRegression

__all__ = ["CoRegularizedLogisticRegression"]
