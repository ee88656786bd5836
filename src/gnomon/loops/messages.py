"""Messages on factor graphs. Arrays in, arrays out; messages are scaled so that their largest entry is one.

An edge joins a factor and one of its variables; its message has one number for every state. graph.start[e] is
where edge e's message begins, graph.card[e] its length, graph.variable[e] its variable, and graph.stride[e] the
step of the variable in the factor's table. Edges of a factor lie side by side.
"""

import numpy as np

from gnomon.loops._compile import PART, compiled


@compiled(**PART)
def scale_up(message, begin, size):
    """Divide a message by its largest entry; returns that entry."""
    top = 0.0
    for k in range(begin, begin + size):
        top = max(top, message[k])
    if top > 0.0:
        for k in range(begin, begin + size):
            message[k] /= top
    return top


@compiled(**PART)
def from_factor(graph, f, inward, target, maximize, out):
    """out = the message of factor f along edge `target`, from the messages `inward` of its other variables."""
    first, last = graph.edge_start[f], graph.edge_start[f + 1]
    begin, size = graph.start[target], graph.card[target]
    for k in range(begin, begin + size):
        out[k] = 0.0
    for i in range(graph.table_start[f], graph.table_start[f + 1]):
        value = graph.tables[i]
        if value == 0.0:
            continue
        here, place = i - graph.table_start[f], 0
        for e in range(first, last):
            k = here // graph.stride[e] % graph.card[e]
            if e == target:
                place = k
            else:
                value *= inward[graph.start[e] + k]
        if maximize:
            out[begin + place] = max(out[begin + place], value)
        else:
            out[begin + place] += value
    scale_up(out, begin, size)


@compiled
def from_variable(graph, v, target, outward, out):
    """out = the message of variable v along edge `target`: the product of what its other factors say."""
    begin, size = graph.start[target], graph.card[target]
    for k in range(size):
        out[begin + k] = 1.0
    for j in range(graph.variable_start[v], graph.variable_start[v + 1]):
        e = graph.variable_edge[j]
        if e != target:
            for k in range(size):
                out[begin + k] *= outward[graph.start[e] + k]
            scale_up(out, begin, size)


@compiled
def flood(graph, inward, outward, damping, maximize, fresh):
    """One round: all factors speak, then all variables; returns the largest change of a factor's message."""
    change = 0.0
    for f in range(graph.edge_start.shape[0] - 1):
        for e in range(graph.edge_start[f], graph.edge_start[f + 1]):
            from_factor(graph, f, inward, e, maximize, fresh)
    for k in range(fresh.shape[0]):
        value = (1.0 - damping) * fresh[k] + damping * outward[k]
        change = max(change, abs(fresh[k] - outward[k]))
        outward[k] = value
    for e in range(graph.card.shape[0]):
        from_variable(graph, graph.variable[e], e, outward, inward)
    return change


@compiled
def sweep_tree(graph, inward, outward, edges, to_variable, maximize):
    """Send messages along the edges in the given order; to_variable[j] tells which way."""
    for j in range(edges.shape[0]):
        e = edges[j]
        if to_variable[j]:
            from_factor(graph, graph.factor[e], inward, e, maximize, outward)
        else:
            from_variable(graph, graph.variable[e], e, outward, inward)


@compiled
def send_residual(graph, inward, outward, damping, maximize, fresh, residual, times):
    """`times` messages of factors, each the one that would change most; returns the largest change left."""
    for _ in range(times):
        best = 0
        for e in range(1, residual.shape[0]):
            if residual[e] > residual[best]:
                best = e
        if residual[best] == 0.0:
            break
        for k in range(graph.start[best], graph.start[best] + graph.card[best]):
            outward[k] = (1.0 - damping) * fresh[k] + damping * outward[k]
        renew(graph, best, inward, outward, maximize, fresh, residual)
    return residual.max()


@compiled(**PART)
def renew(graph, edge, inward, outward, maximize, fresh, residual):
    """After the message of `edge` has changed, compute what its variable's other factors would now say."""
    v = graph.variable[edge]
    compare(graph, edge, outward, fresh, residual)
    for j in range(graph.variable_start[v], graph.variable_start[v + 1]):
        e = graph.variable_edge[j]
        if e == edge:
            continue
        from_variable(graph, v, e, outward, inward)
        f = graph.factor[e]
        for other in range(graph.edge_start[f], graph.edge_start[f + 1]):
            if other != e:
                from_factor(graph, f, inward, other, maximize, fresh)
                compare(graph, other, outward, fresh, residual)


@compiled(**PART)
def compare(graph, e, outward, fresh, residual):
    """residual[e] = how much the message of an edge would change."""
    change = 0.0
    for k in range(graph.start[e], graph.start[e] + graph.card[e]):
        change = max(change, abs(fresh[k] - outward[k]))
    residual[e] = change


@compiled
def propose(graph, inward, outward, maximize, fresh, residual):
    """fresh = what every factor would say now."""
    for f in range(graph.edge_start.shape[0] - 1):
        for e in range(graph.edge_start[f], graph.edge_start[f + 1]):
            from_factor(graph, f, inward, e, maximize, fresh)
            compare(graph, e, outward, fresh, residual)


@compiled
def variable_beliefs(graph, outward, beliefs, belief_start):
    """beliefs = the product of all messages to each variable, scaled to a sum of one."""
    for v in range(belief_start.shape[0] - 1):
        begin, size = belief_start[v], belief_start[v + 1] - belief_start[v]
        for k in range(size):
            beliefs[begin + k] = 1.0
        for j in range(graph.variable_start[v], graph.variable_start[v + 1]):
            e = graph.variable_edge[j]
            for k in range(size):
                beliefs[begin + k] *= outward[graph.start[e] + k]
            scale_up(beliefs, begin, size)
        total = beliefs[begin : begin + size].sum()
        if total > 0.0:
            beliefs[begin : begin + size] /= total


@compiled
def factor_beliefs(graph, inward, beliefs):
    """beliefs = each table times the messages of its variables, scaled to a sum of one."""
    for f in range(graph.edge_start.shape[0] - 1):
        total = 0.0
        for i in range(graph.table_start[f], graph.table_start[f + 1]):
            here, value = i - graph.table_start[f], graph.tables[i]
            for e in range(graph.edge_start[f], graph.edge_start[f + 1]):
                value *= inward[graph.start[e] + here // graph.stride[e] % graph.card[e]]
            beliefs[i] = value
            total += value
        if total > 0.0:
            for i in range(graph.table_start[f], graph.table_start[f + 1]):
                beliefs[i] /= total


@compiled
def bethe(graph, of_factors, of_variables, belief_start):
    """The Bethe value: Σ_f E[ln f] + H(b_f) − Σ_v (d_v − 1) H(b_v)."""
    value = 0.0
    for i in range(of_factors.shape[0]):
        if of_factors[i] > 0.0:
            value += of_factors[i] * (np.log(graph.tables[i]) - np.log(of_factors[i]))
    for v in range(belief_start.shape[0] - 1):
        degree = graph.variable_start[v + 1] - graph.variable_start[v]
        for k in range(belief_start[v], belief_start[v + 1]):
            b = of_variables[k]
            if b > 0.0:
                value += (degree - 1) * b * np.log(b)
    return value
