"""What every public estimator is held to."""
