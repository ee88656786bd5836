"""Documents in a table: topics are found, named by their words, and kept with the model."""

import numpy as np
import polars as pl

import gnomon as library

SUBJECTS = {
    "sea": ["boat", "sail", "wind", "wave", "harbor", "anchor", "fish", "tide"],
    "oven": ["flour", "sugar", "bake", "oven", "butter", "dough", "cake", "yeast"],
    "law": ["court", "judge", "verdict", "lawyer", "appeal", "witness", "jury", "trial"],
}


def test_topics_from_file_to_files(gnomon, tmp_path):
    rng = np.random.default_rng(0)
    kinds = rng.choice(list(SUBJECTS), 150)
    texts = [" ".join(rng.choice(SUBJECTS[kind], 25)) for kind in kinds]
    pl.DataFrame({"nr": range(150), "text": texts}).write_csv(tmp_path / "news.csv")
    done = gnomon("compare", "news.csv", "--task", "topics", "--folds", "3", "--json")
    assert done.code == 0, done.err
    told = done.json()
    assert told["metric"] == "perplexity" and told["best"]["settings"]["n_components"] >= 3
    assert told["ranking"][0]["score"] < 12 < told["ranking"][-1]["score"]  # 8 words of a subject, 24 of all
    page = (tmp_path / "gnomon-report" / "report.html").read_text()
    assert "The topics" in page and "harbor" in page
    said = library.load(tmp_path / "gnomon-report" / "best.gnomon").predict(pl.DataFrame({"text": texts}))
    groups = [set(said[kinds == kind]) for kind in SUBJECTS]
    assert not (groups[0] & groups[1] or groups[1] & groups[2] or groups[0] & groups[2])
    assert gnomon("predict", "gnomon-report/best.gnomon", "news.csv", "--out", "said.csv").code == 0


def test_a_table_without_texts_has_no_topics(gnomon, flowers):
    done = gnomon("compare", flowers, "--task", "topics")
    assert done.code == 3 and "no column holds texts" in done.err
