"""First moments of blocks of rows. Inputs are read-only and C-ordered; accumulators are float64."""

from gnomon.loops._compile import compiled


@compiled(fastmath=True)
def add_first_moments(X, Y, sum_x, cross):
    """sum_x[j] += Σ_i x_ij and cross[c, j] += Σ_i y_ic x_ij, in one reading of X."""
    d, t = X.shape[1], Y.shape[1]
    for i in range(len(X)):
        y = Y[i, 0]
        for j in range(d):
            sum_x[j] += X[i, j]
            cross[0, j] += y * X[i, j]
        for c in range(1, t):
            y = Y[i, c]
            for j in range(d):
                cross[c, j] += y * X[i, j]
