"""Penalties that set coefficients to zero, their paths, and other penalties."""
