"""Beliefs about the coefficients: posteriors, evidence, and where to measure next."""
