"""Losses of one score z against one target y: value, slope and bend (first and second derivative in z).

Which loss is an integer code (the `code` of the objects in gnomon.losses, which own the formulas; a test
holds the two together); p and q are its parameters. Labels of margin losses are -1 and +1. Scalars in, scalar
out.
"""

from math import exp, inf, log, log1p

from gnomon.loops._compile import PART, compiled

SQUARED_ERROR, ABSOLUTE, HUBER, EPSILON, SQUARED_EPSILON, PINBALL, STUDENT_T = 0, 1, 2, 3, 4, 5, 6
ZERO_ONE, PERCEPTRON, HINGE, SQUARED_HINGE, MODIFIED_HUBER = 9, 10, 11, 12, 13
LOGISTIC, EXPONENTIAL, SQUARED_MARGIN, SIGMOID_SQUARED = 14, 15, 16, 17
POISSON, GAMMA = 20, 21


@compiled(**PART)
def sigmoid(z):
    """1 / (1 + exp(-z)) without overflow."""
    if z >= 0.0:
        return 1.0 / (1.0 + exp(-z))
    e = exp(z)
    return e / (1.0 + e)


@compiled(**PART)
def log_one_plus_exp(z):
    """ln(1 + exp(z)) without overflow."""
    if z > 0.0:
        return z + log1p(exp(-z))
    return log1p(exp(z))


@compiled(**PART)
def margin_value(code, p, q, m):
    """Loss of the margin m = y z."""
    if code == HINGE:
        return max(0.0, 1.0 - m)
    if code == LOGISTIC:
        return log_one_plus_exp(-m) / p
    if code == SQUARED_HINGE:
        return max(0.0, 1.0 - m) ** 2
    if code == PERCEPTRON:
        return max(0.0, -m)
    if code == MODIFIED_HUBER:
        return max(0.0, 1.0 - m) ** 2 if m >= -1.0 else -4.0 * m
    if code == EXPONENTIAL:
        return exp(-m)
    if code == SQUARED_MARGIN:
        return 0.5 * (1.0 - m) ** 2
    if code == SIGMOID_SQUARED:
        return 0.5 * sigmoid(-m) ** 2
    return 1.0 if m <= 0.0 else 0.0


@compiled(**PART)
def margin_slope(code, p, q, m):
    """Derivative of the loss in the margin; at a kink, the active side unless p says otherwise."""
    if code == HINGE:
        return -1.0 if m < 1.0 or (m == 1.0 and p > 0.0) else 0.0
    if code == LOGISTIC:
        return -sigmoid(-m) / p
    if code == SQUARED_HINGE:
        return -2.0 * max(0.0, 1.0 - m)
    if code == PERCEPTRON:
        return -1.0 if m <= 0.0 else 0.0
    if code == MODIFIED_HUBER:
        return -2.0 * max(0.0, 1.0 - m) if m >= -1.0 else -4.0
    if code == EXPONENTIAL:
        return -exp(-m)
    if code == SQUARED_MARGIN:
        return m - 1.0
    if code == SIGMOID_SQUARED:
        s = sigmoid(-m)
        return -s * s * (1.0 - s)
    return 0.0


@compiled(**PART)
def margin_bend(code, p, q, m):
    """Second derivative of the loss in the margin, where it exists."""
    if code == LOGISTIC:
        s = sigmoid(m)
        return s * (1.0 - s) / p
    if code == SQUARED_HINGE:
        return 2.0 if m < 1.0 else 0.0
    if code == MODIFIED_HUBER:
        return 2.0 if -1.0 <= m < 1.0 else 0.0
    if code == EXPONENTIAL:
        return exp(-m)
    if code == SQUARED_MARGIN:
        return 1.0
    if code == SIGMOID_SQUARED:
        s = sigmoid(-m)
        return s * s * (1.0 - s) * (2.0 - 3.0 * s)
    return 0.0


@compiled(**PART)
def residual_value(code, p, q, r):
    """Loss of the residual r = y - z."""
    size = abs(r)
    if code == SQUARED_ERROR:
        return 0.5 * r * r
    if code == ABSOLUTE:
        return size
    if code == HUBER:
        return 0.5 * r * r if size <= p else p * (size - 0.5 * p)
    if code == EPSILON:
        return max(0.0, size - p)
    if code == SQUARED_EPSILON:
        return max(0.0, size - p) ** 2
    if code == PINBALL:
        return p * r if r >= 0.0 else (p - 1.0) * r
    return 0.5 * (p + 1.0) * log1p(r * r / (p * q * q))


@compiled(**PART)
def residual_slope(code, p, q, r):
    """Derivative of the loss in the residual; 0 at a kink."""
    sign = 1.0 if r > 0.0 else (-1.0 if r < 0.0 else 0.0)
    size = abs(r)
    if code == SQUARED_ERROR:
        return r
    if code == ABSOLUTE:
        return sign
    if code == HUBER:
        return r if size <= p else p * sign
    if code == EPSILON:
        return sign if size > p else 0.0
    if code == SQUARED_EPSILON:
        return 2.0 * sign * max(0.0, size - p)
    if code == PINBALL:
        return p if r > 0.0 else (p - 1.0 if r < 0.0 else 0.0)
    return (p + 1.0) * r / (p * q * q + r * r)


@compiled(**PART)
def residual_bend(code, p, q, r):
    """Second derivative of the loss in the residual, where it exists."""
    size = abs(r)
    if code == SQUARED_ERROR:
        return 1.0
    if code == HUBER:
        return 1.0 if size <= p else 0.0
    if code == SQUARED_EPSILON:
        return 2.0 if size > p else 0.0
    if code == STUDENT_T:
        scale = p * q * q
        return (p + 1.0) * (scale - r * r) / (scale + r * r) ** 2
    return 0.0


@compiled(**PART)
def loss_value(code, p, q, y, z):
    """Loss of the score z when the target is y."""
    if code >= POISSON:
        if code == POISSON:
            return exp(z) - y * z + (y * log(y) - y if y > 0.0 else 0.0)
        return y * exp(-z) + z - log(y) - 1.0 if y > 0.0 else inf
    if code >= ZERO_ONE:
        return margin_value(code, p, q, y * z)
    return residual_value(code, p, q, y - z)


@compiled(**PART)
def loss_slope(code, p, q, y, z):
    """Derivative of the loss in the score z."""
    if code >= POISSON:
        return exp(z) - y if code == POISSON else 1.0 - y * exp(-z)
    if code >= ZERO_ONE:
        return y * margin_slope(code, p, q, y * z)
    return -residual_slope(code, p, q, y - z)


@compiled(**PART)
def loss_bend(code, p, q, y, z):
    """Second derivative of the loss in the score z."""
    if code >= POISSON:
        return exp(z) if code == POISSON else y * exp(-z)
    if code >= ZERO_ONE:
        return margin_bend(code, p, q, y * z)
    return residual_bend(code, p, q, y - z)


@compiled
def fill_losses(code, p, q, y, z, value, slope, bend):
    """value, slope and bend of every pair (y[i], z[i])."""
    for i in range(len(z)):
        value[i] = loss_value(code, p, q, y[i], z[i])
        slope[i] = loss_slope(code, p, q, y[i], z[i])
        bend[i] = loss_bend(code, p, q, y[i], z[i])


@compiled
def logistic_terms(y, z, weight, slope, bend):
    """Σ weight ln(1+exp(-yz)); fills weight·slope and weight·bend: one exponential a row."""
    value = 0.0
    for i in range(len(z)):
        m = y[i] * z[i]
        e = exp(-abs(m))
        share = 1.0 / (1.0 + e)
        value += weight[i] * (log1p(e) + max(0.0, -m))
        slope[i] = -weight[i] * y[i] * (e * share if m > 0.0 else share)
        bend[i] = weight[i] * e * share * share
    return value


@compiled
def weighted_terms(code, p, q, y, z, weight, slope, bend):
    """Σ weight loss; fills weight·slope and weight·bend."""
    value = 0.0
    for i in range(len(z)):
        value += weight[i] * loss_value(code, p, q, y[i], z[i])
        slope[i] = weight[i] * loss_slope(code, p, q, y[i], z[i])
        bend[i] = weight[i] * loss_bend(code, p, q, y[i], z[i])
    return value


@compiled
def softmax_shift(last, Z):
    """Z[i] becomes Z[i] + last less its largest entry: what exponentials can take."""
    for i in range(Z.shape[0]):
        top = Z[i, 0] + last[0]
        for k in range(Z.shape[1]):
            Z[i, k] += last[k]
            top = max(top, Z[i, k])
        for k in range(Z.shape[1]):
            Z[i, k] -= top


@compiled(fastmath=True)
def softmax_rows(E):
    """E[i], exponentials of shifted scores, becomes its share of their sum."""
    for i in range(E.shape[0]):
        s = 0.0
        for k in range(E.shape[1]):
            s += E[i, k]
        scale = 1.0 / s
        for k in range(E.shape[1]):
            E[i, k] *= scale


@compiled(fastmath=True)
def softmax_slopes(y, weight, own, E, slope):
    """Σ weight (ln Σ exp z - z_y); E[i], exponentials of shifted scores of which own[i] is the true class's,
    becomes weight[i] (softmax - onehot(y[i])); slope += Σ_i E[i].
    """
    value = 0.0
    for i in range(E.shape[0]):
        s = 0.0
        for k in range(E.shape[1]):
            s += E[i, k]
        value += weight[i] * (log(s) - own[i])
        scale = weight[i] / s
        for k in range(E.shape[1]):
            E[i, k] *= scale
        E[i, y[i]] -= weight[i]
        for k in range(E.shape[1]):
            slope[k] += E[i, k]
    return value


@compiled
def softmax_curve(P, weight, Z):
    """Z[i] becomes weight[i] (diag(P[i]) - P[i] P[i]ᵀ) Z[i]."""
    for i in range(Z.shape[0]):
        mean = 0.0
        for k in range(Z.shape[1]):
            mean += P[i, k] * Z[i, k]
        for k in range(Z.shape[1]):
            Z[i, k] = weight[i] * P[i, k] * (Z[i, k] - mean)
