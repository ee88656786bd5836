"""Documents to learn topics from: short news about a few subjects."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from gnomon.core.randomness import generator

SUBJECTS = {
    "harbor": "ship port crane cargo tide sailor dock freight anchor storm captain pier",
    "kitchen": "flour oven bread butter recipe salt onion soup sugar baker knife taste",
    "courts": "judge law trial jury verdict appeal lawyer witness court sentence case ruling",
    "football": "goal match team coach league player season striker referee stadium pass cup",
    "weather": "rain wind cloud snow forecast frost sun degree front pressure hail thunder",
    "money": "bank market price stock loan interest budget tax profit trade investor bond",
    "music": "song concert singer guitar album stage piano melody band audience drum opera",
    "space": "rocket orbit moon satellite launch planet telescope crew mission engine star probe",
}
COMMON = [
    *("the", "of", "and", "to", "in", "a", "that", "it", "was", "for"),
    *("on", "said", "with", "as", "new", "year", "people", "today", "report", "week"),
]


def make_news(n_documents: int = 1000, length: int = 60, *, random_state: Any = None) -> Bunch:
    """Write short news as bags of words: each is about one to three of eight subjects, with common words between.

    Parameters
    ----------
    n_documents, length : int
        News, and words of each on average.
    random_state : int, RandomState, Generator or None
        Where the randomness comes from.

    Returns
    -------
    Bunch
        data (list of texts), target (main subject), target_names, shares.

    Examples
    --------
    >>> news = make_news(3, 10, random_state=0)
    >>> len(news.data), news.target_names[:2]
    (3, ['harbor', 'kitchen'])
    """
    rng = generator(random_state)
    names = list(SUBJECTS)
    words = [text.split() for text in SUBJECTS.values()]
    ranks = 1.0 / np.arange(1, len(words[0]) + 1) ** 0.7
    texts, shares = [], rng.dirichlet(np.full(len(names), 0.12), size=n_documents)
    for share in shares:
        count = int(rng.poisson(length))
        about = rng.choice(len(names), size=count, p=share)
        own = rng.choice(len(ranks), size=count, p=ranks / ranks.sum())
        plain = rng.random(count) < 0.35
        fill = rng.choice(len(COMMON), size=count)
        texts.append(" ".join(COMMON[f] if p else words[s][w] for s, w, p, f in zip(about, own, plain, fill)))
    return Bunch(data=texts, target=shares.argmax(axis=1), target_names=names, shares=shares)
