"""Pool adjacent violators: the non-decreasing sequence nearest to a given one, in weighted squares."""

from gnomon.loops._compile import compiled


@compiled
def pool(y, w, means, weights, sizes):
    """Fill means, weights and sizes of the pooled blocks, first to last; return how many there are.

    y and w are values and positive weights in order; the outputs are as long as y.
    """
    k = -1
    for i in range(len(y)):
        k += 1
        means[k] = y[i]
        weights[k] = w[i]
        sizes[k] = 1
        while k > 0 and means[k - 1] >= means[k]:
            total = weights[k - 1] + weights[k]
            means[k - 1] += (means[k] - means[k - 1]) * (weights[k] / total)
            weights[k - 1] = total
            sizes[k - 1] += sizes[k]
            k -= 1
    return k + 1
