"""Least squares: plain and ridge, from moments or from rows, with its geometry and its standard errors."""
