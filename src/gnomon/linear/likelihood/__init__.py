"""Maximum likelihood: logistic regression and generalized linear models."""
