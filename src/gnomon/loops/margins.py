"""What the squared hinge does along a line. Margins are y·score of every row, moves their change per unit of t."""

from gnomon.loops._compile import compiled


@compiled
def slope_along(margins, moves, weight, t):
    """First and second derivative in t of Σ weight max(0, 1 − margin − t·move)²."""
    slope, bend = 0.0, 0.0
    for i in range(len(margins)):  # without a branch, which nobody could foresee
        slack = max(1.0 - margins[i] - t * moves[i], 0.0)
        pull = 2.0 * weight[i] * moves[i]
        slope -= pull * slack
        bend += pull * moves[i] if slack > 0.0 else 0.0
    return slope, bend
