"""fit, predict, explain, watch, lab, models and warm-up."""

import numpy as np
import polars as pl
import pytest

import gnomon as library
from gnomon.report import read_table
from gnomon.report.card import formula


def test_fit_then_predict_then_explain(gnomon, flowers, tmp_path):
    done = gnomon(
        "fit", "LogisticRegression", flowers, "--target", "kind", "--set", "C=0.5", "--out", "m.gnomon"
    )
    assert done.code == 0 and "gnomon.linear.LogisticRegression" in done.out
    assert "np." not in done.out
    done = gnomon("predict", "m.gnomon", flowers, "--out", "said.csv", "--proba")
    assert done.code == 0, done.err
    said = read_table(tmp_path / "said.csv")
    assert said.columns[-4:] == ["predicted kind", "P(daisy)", "P(rose)", "P(tulip)"]
    assert len(said) == 60 and said["P(rose)"].is_between(0, 1).all()
    assert (said["predicted kind"] == said["kind"]).mean() > 0.6
    told = gnomon("explain", "m.gnomon", "--json").json()
    assert told["parameters"]["C"] == 0.5 and told["data"]["rows"] == 60
    assert told["data"]["columns"] == ["height", "color"] and told["data"]["classes"] == [
        "daisy",
        "rose",
        "tulip",
    ]
    assert told["fit"]["converged"] is True and told["fit"]["certificate"] >= 0
    assert len(told["fit"]["objective"]) == told["fit"]["steps"] and r"\sum" in told["formula"]
    shown = gnomon("explain", "m.gnomon").out
    assert "formula" not in shown and "▁" in shown and "height, color" in shown


def test_predictions_are_those_of_the_library(gnomon, line, tmp_path):
    gnomon("fit", "LinearRegression", line, "--target", "y")
    table = read_table(line)
    direct = library.linear.LinearRegression().fit(table.select("x"), table["y"].to_numpy())
    told = gnomon("predict", "model.gnomon", line, "--interval", "0.9", "--json").json()["table"]
    np.testing.assert_allclose(told["predicted y"], direct.predict(table.select("x")), rtol=1e-9)
    low, high = direct.predict_interval(table.select("x"), level=0.9)
    np.testing.assert_allclose(told["predicted y low"], low, rtol=1e-8)
    np.testing.assert_allclose(told["predicted y high"], high, rtol=1e-8)
    printed = gnomon("predict", "model.gnomon", line).out
    assert printed.splitlines()[0] == "x,y,predicted y" and len(printed.splitlines()) == 41


def test_models_saved_from_python_predict_too(gnomon, line):
    table = read_table(line)
    library.save(library.cluster.KMeans(2, random_state=0).fit(table.to_pandas()), "groups.gnomon")
    told = gnomon("predict", "groups.gnomon", line, "--json").json()
    assert set(told["table"]["predicted"]) == {0, 1}
    gnomon("predict", "groups.gnomon", line, "--out", "said.parquet")
    assert pl.read_parquet("said.parquet").columns == ["x", "y", "predicted"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["predict", "model.gnomon", "other.csv"], 3, "no column 'x', which the model needs"),
        (["predict", "model.gnomon", "words.csv"], 3, "column 'x', row 2: 'two' is no number"),
        (["predict", "line.csv", "line.csv"], 3, "not a gnomon file"),
        (["predict", "none.gnomon", "line.csv"], 3, "does not exist"),
        (["predict", "model.gnomon", "line.csv", "--proba"], 2, "has no predict_proba"),
        (["predict", "model.gnomon", "line.csv", "--out", "said.doc"], 2, "must end in .csv"),
        (["predict", "model.gnomon", "line.csv", "--out", "no/said.csv"], 2, "there is no folder no"),
        (["explain", "none.gnomon"], 3, "does not exist"),
        (["fit", "LinearRegresion", "line.csv", "--target", "y"], 2, "Did you mean 'LinearRegression'"),
        (["fit", "Ridge", "line.csv", "--target", "y", "--set", "alpa=1"], 2, "Did you mean 'alpha'"),
        (["fit", "Ridge", "line.csv", "--target", "y", "--set", "alpha=-1"], 2, "alpha"),
        (["fit", "Ridge", "line.csv", "--target", "y", "--set", "alpha"], 2, "name=value"),
        (["fit", "Ridge", "line.csv"], 2, "needs the column to predict"),
        (["fit", "MarkovRanker", "line.csv"], 2, "does not learn from a table"),
        (["watch", "Kmeans", "line.csv"], 2, "Did you mean 'KMeans'"),
        (["lab", "KMean"], 2, "Did you mean 'KMeans'"),
        (["lab", "line.csv", "--target", "z"], 2, "no column 'z'"),
        (["models", "qwertyuiop"], 2, "nothing is called"),
        (["warm-up", "nothing"], 2, "no loops"),
        (["nothing"], 2, "No such command"),
    ],
)
def test_faults_name_the_cure(gnomon, line, tmp_path, arguments, code, message):
    (tmp_path / "other.csv").write_text("z\n1\n2\n")
    (tmp_path / "words.csv").write_text("x\n1\ntwo\nthree\n")
    if "model.gnomon" in arguments:
        assert gnomon("fit", "Ridge", "line.csv", "--target", "y").code == 0
    before = sorted(path.name for path in tmp_path.iterdir())
    done = gnomon(*arguments)
    assert done.code == code and message in " ".join(done.err.split()), done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_protected_files_are_not_replaced_and_it_is_said_before_the_work(gnomon, line, tmp_path):
    kept = tmp_path / "kept.csv"
    kept.write_text("mine\n")
    kept.chmod(0o444)
    assert gnomon("fit", "Ridge", "line.csv", "--target", "y").code == 0
    done = gnomon("predict", "model.gnomon", "line.csv", "--out", "kept.csv")
    assert done.code == 2 and "may only be read" in " ".join(done.err.split())
    assert gnomon("fit", "Ridge", "line.csv", "--target", "y", "--out", "kept.csv").code == 2
    kept.chmod(0o555)  # a program may be run, and still not be written
    assert gnomon("fit", "Ridge", "line.csv", "--target", "y", "--out", "kept.csv").code == 2
    assert kept.read_text() == "mine\n"
    done = gnomon("predict", "model.gnomon", "line.csv", "--out", ".")
    assert done.code == 2 and "is a folder" in " ".join(done.err.split())
    (tmp_path / "report.html").write_text("an earlier report")
    (tmp_path / "report.html").chmod(0o444)
    done = gnomon("compare", "line.csv", "--target", "y", "--models", "Ridge", "--out", ".")
    assert done.code == 2 and "may only be read" in " ".join(done.err.split())


def test_values_never_seen_are_remarked_on(gnomon, flowers, tmp_path):
    gnomon("fit", "GaussianNB", flowers, "--target", "kind")
    (tmp_path / "new.csv").write_text("height,color\n1.0,blue\n2.0,red\n")
    done = gnomon("predict", "model.gnomon", "new.csv")
    assert "column 'color': 1 values were never seen" in done.err and len(done.out.splitlines()) == 3


def test_groups_and_sequences_are_fitted_without_a_target(gnomon, line):
    assert gnomon("fit", "KMeans", line, "--set", "n_clusters=3").code == 0
    assert set(gnomon("predict", "model.gnomon", line, "--json").json()["table"]["predicted"]) == {0, 1, 2}
    done = gnomon("fit", "GaussianHMM", line, "--set", "n_components=2", "--out", "hmm.gnomon")
    assert done.code == 0 and done.err.startswith("note: GaussianHMM did not converge")
    assert set(gnomon("predict", "hmm.gnomon", line, "--json").json()["table"]["predicted"]) <= {0, 1}


def test_watch_in_a_pipe_and_for_scripts(gnomon, line):
    lines = gnomon("watch", "KMeans", line, "--set", "n_clusters=2").out.splitlines()
    assert lines[0] == "step 0" and lines[1].startswith("step 1  objective ")
    steps = gnomon("watch", "KMeans", line, "--set", "n_clusters=2", "--json").json()["steps"]
    told = [step["objective"] for step in steps[1:]]
    assert len(told) == len(lines) - 1 and told == sorted(told, reverse=True)


def test_watch_writes_a_moving_picture(gnomon, line, tmp_path):
    done = gnomon("watch", "KMeans", line, "--set", "n_clusters=2", "--out", "steps.gif", "--steps", "2")
    assert done.code == 0 and "steps: steps.gif" in done.out
    assert (tmp_path / "steps.gif").read_bytes().startswith(b"GIF89a")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["line.csv", "steps.gif"]


def test_film_of_many_columns_shows_the_whole_curve(tmp_path, monkeypatch):
    """Its first frame is empty, and must not set the limits of the others."""
    from gnomon import plot
    from gnomon.cli.watching import _animate
    from gnomon.cluster import KMeans

    drawn, trace = [], plot.trace

    def look(model, ax):
        trace(model, ax)
        drawn.append((ax.lines[0].get_xydata(), ax.get_xlim(), ax.get_ylim()))

    monkeypatch.setattr(plot, "trace", look)
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = KMeans(4, init=X[:4], n_init=1)
    assert _animate(model.iterate(X), X, None, tmp_path / "x.gif") == len(drawn) + 1 >= 4
    for points, *limits in drawn:
        for (low, high), values in zip(limits, points.T, strict=True):
            assert low <= values.min() <= values.max() <= high


def test_models_are_told_without_markup(gnomon):
    found = {topic["name"]: topic["about"] for topic in gnomon("models", "--json").json()["found"]}
    marked = {
        name: about for name, about in found.items() if any(mark in about for mark in (":math:", "\\", "``"))
    }
    assert marked == {}
    assert found["gnomon.losses.Hinge"] == "Hinge loss max(0, 1 - m) of the support vector machine."
    assert found["gnomon.kernels.RBF"] == "The Gaussian kernel exp(-1/2Σ_j (x_j-z_j)²/ℓ_j²)."


def test_models_are_found_by_topic_and_by_name(gnomon):
    found = gnomon("models", "lasso", "path", "--json").json()["found"]
    assert "gnomon.linear.lasso_path" in [topic["name"] for topic in found]
    found = gnomon("models", "duality gap", "--json").json()["found"]
    assert "gnomon.linear.Lasso" in [topic["name"] for topic in found[:3]]
    assert "duality gap" in str(found[0]["topics"]).lower()
    shown = gnomon("models", "kmeans").out
    assert "gnomon.cluster.KMeans" in shown and "K-means" in shown


def test_the_map_of_topics_is_in_the_wheel():
    import tomllib
    from pathlib import Path

    project = Path(__file__).resolve().parents[2]
    targets = tomllib.loads((project / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
    packed = targets["wheel"]["force-include"]
    assert packed == {f"docs/{name}.csv": f"gnomon/report/{name}.csv" for name in ("syllabus", "topics")}
    assert all((project / path).is_file() for path in packed)


def test_warm_up_and_version(gnomon):
    told = gnomon("warm-up", "bayes", "--json").json()
    assert list(told["seconds"]) == ["bayes"] and told["seconds"]["bayes"] > 0
    assert gnomon("--version").out == f"gnomon {library.__version__}\n"


def test_warm_up_for_rows_of_float32(gnomon, monkeypatch):
    told = []
    monkeypatch.setattr(library, "warm_up", lambda *names, dtypes: told.append((names, dtypes)) or {})
    gnomon("warm-up", "bayes")
    gnomon("warm-up", "bayes", "--float32")
    assert told == [(("bayes",), ("float64",)), (("bayes",), ("float64", "float32"))]


def test_formula_of_a_docstring():
    class Block:
        r"""A model.

        .. math::

            a = b
            + c

        More.
        """

    class Line:
        r"""A model.

        .. math:: a = b
            + c

        More.
        """

    assert formula(Block) == formula(Line) == "a = b\n+ c" and formula(int) == ""
