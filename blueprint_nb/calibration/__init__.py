"""Fitting cost forms to measured kernels, and what the fits are worth on kernels they never saw."""
