"""Mixtures of views in which anything may be missing."""

__all__: list[str] = []
