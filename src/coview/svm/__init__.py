"""Support vector machines of several views."""

from coview.svm._svm_2k import SVM2K

__all__ = ["SVM2K"]
