"""Steps of dense networks: the penalty on the weights, the size of a gradient, and the rules that move the weights.

Weights and gradients lie in one vector each, by the plan of `gnomon.loops.dense`. Sums run in one fixed order.
"""

from math import sqrt

import numpy as np

from gnomon.loops._compile import PART, compiled
from gnomon.loops.codes_of_dense import ADAGRAD, ADAM


@compiled(fastmath=True, **PART)
def sum_of_squares(values):
    """Σ v², summed in double precision."""
    total = 0.0
    for i in range(values.size):
        v = float(values[i])
        total += v * v
    return total


@compiled(fastmath=True, **PART)
def add_penalty(plan, params, grads, mass, alpha, weight_decay):
    """Divide the sums by `mass`, add the slope of ½(alpha/mass + weight_decay)‖W‖²; return its value."""
    strength, squares = alpha / mass + weight_decay, 0.0
    share, pull = grads.dtype.type(1.0 / mass), grads.dtype.type(strength)
    for i in range(grads.size):
        grads[i] *= share
    if strength == 0.0:
        return 0.0
    for l in range(plan.n_in.size):
        end = plan.w_at[l] + plan.n_in[l] * plan.width[l] * plan.pieces[l]
        squares += sum_of_squares(params[plan.w_at[l] : end])
        for i in range(plan.w_at[l], end):
            grads[i] += pull * params[i]
    return 0.5 * strength * squares


@compiled(fastmath={"nnan", "nsz"}, **PART)
def largest_of_numbers(values):
    """The largest size of an entry, where none is NaN."""
    top = abs(values[0])
    for i in range(1, values.size):
        top = max(top, abs(values[i]))
    return float(top)


@compiled(**PART)
def largest(values):
    """The largest size of an entry; NaN where there is one."""
    if np.isfinite(sum_of_squares(values)):
        return largest_of_numbers(values)
    top = 0.0
    for i in range(values.size):
        if not abs(values[i]) <= top:
            top = float(abs(values[i]))
    return top


@compiled(**PART)
def clip(grads, limit):
    """Shrink the gradient to the norm `limit` where it is longer."""
    squares = sum_of_squares(grads)
    if squares > limit * limit:
        factor = limit / sqrt(squares)
        for i in range(grads.size):
            grads[i] *= factor


@compiled(**PART)
def move(plan, rule, params, grads, first, second, rate, step):
    """One update of the weights; `first` and `second` are what the rule remembers; steps count from 1."""
    if rule.solver == ADAM:
        kind = params.dtype.type  # single precision stays single
        scaled = kind(rate * sqrt(1.0 - rule.beta_2**step) / (1.0 - rule.beta_1**step))
        keep, new = kind(rule.beta_1), kind(1.0 - rule.beta_1)
        keep_squares, new_squares, least = kind(rule.beta_2), kind(1.0 - rule.beta_2), kind(rule.epsilon)
        for i in range(params.size):
            g = grads[i]
            first[i] = keep * first[i] + new * g
            second[i] = keep_squares * second[i] + new_squares * g * g
            params[i] -= scaled * first[i] / (np.sqrt(second[i]) + least)
    elif rule.solver == ADAGRAD and not rule.by_node:
        for i in range(params.size):
            second[i] += grads[i] * grads[i]
            if second[i] > 0.0:
                params[i] -= rate * grads[i] / sqrt(second[i])
    elif rule.solver == ADAGRAD:
        for l in range(plan.n_in.size):
            columns = plan.width[l] * plan.pieces[l]
            for j in range(columns):  # one scale for the weights into a unit and its bias, kept at the bias
                at = plan.b_at[l] + j
                squares = grads[at] * grads[at]
                for i in range(plan.n_in[l]):
                    g = grads[plan.w_at[l] + i * columns + j]
                    squares += g * g
                second[at] += squares
                if second[at] > 0.0:
                    factor = rate / sqrt(second[at])
                    params[at] -= factor * grads[at]
                    for i in range(plan.n_in[l]):
                        params[plan.w_at[l] + i * columns + j] -= (
                            factor * grads[plan.w_at[l] + i * columns + j]
                        )
    elif rule.momentum > 0.0:
        for i in range(params.size):
            first[i] = rule.momentum * first[i] - rate * grads[i]
            params[i] += rule.momentum * first[i] - rate * grads[i] if rule.nesterov else first[i]
    else:
        for i in range(params.size):
            params[i] -= rate * grads[i]


@compiled(**PART)
def note_norms(plan, grads, norms):
    """norms[l] += ‖∂/∂W_l‖."""
    for l in range(plan.n_in.size):
        end = plan.w_at[l] + plan.n_in[l] * plan.width[l] * plan.pieces[l]
        norms[l] += sqrt(sum_of_squares(grads[plan.w_at[l] : end]))
