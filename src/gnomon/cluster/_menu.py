"""What clusterings bring to a comparison: those that can place new rows."""

from typing import Any

COST = 1  # the cheap go first

MENU: dict[str, dict[str, dict[str, list[Any]]]] = {
    "cluster": {
        "KMeans": {"n_clusters": [2, 3, 4, 5, 6, 8]},
        "KMedians": {"n_clusters": [2, 3, 4, 5, 6, 8]},
        "KMedoids": {"n_clusters": [2, 3, 4, 5, 6, 8]},
    },
}
