"""The largest entries of every row, with their columns. Arrays in, arrays out; no NaN."""

from gnomon.loops._compile import compiled

STRIP = 64  # entries looked over at once


@compiled
def top_columns(scores, columns, values):
    """values[i] = the largest entries of scores[i], largest first, columns[i] = where; ties go to the lower column."""
    n = columns.shape[1]
    for i in range(len(scores)):
        row, best, where = scores[i], values[i], columns[i]
        used = 0
        for start in range(0, row.size, STRIP):
            stop = min(start + STRIP, row.size)
            if used == n:
                worst, above = best[n - 1], 0
                for j in range(start, stop):
                    above += row[j] > worst
                if above == 0:  # nearly always, once the list has filled
                    continue
            for j in range(start, stop):
                value = row[j]
                if used < n:
                    at = used
                    used += 1
                elif value > best[n - 1]:
                    at = n - 1
                else:
                    continue
                while at > 0 and best[at - 1] < value:
                    best[at], where[at] = best[at - 1], where[at - 1]
                    at -= 1
                best[at], where[at] = value, j
