"""Pictures: one function each; every one takes `ax` and returns the Axes."""
