"""The ground floor: estimators, the one loop, sums over data, validation, saving. Knows no model."""
