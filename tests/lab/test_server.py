"""The server refuses with a sentence what it should not do, and is alive afterwards."""

import inspect
import io
import json
import struct
import threading
import time

import numpy as np
import pytest
from PIL import Image
from sklearn.base import BaseEstimator

from gnomon.lab import application, film, learners, lessons, runs, server
from gnomon.lab.formulas import formula_of
from gnomon.lab.learners import data_for, find, make
from gnomon.lab.material import gather, view
from gnomon.lab.scenes import frame
from gnomon.mixture import GaussianMixture
from gnomon.report.card import formula


def heard(answer):
    return [json.loads(line) for line in answer.text.splitlines()]


def refused(answer, status, *words):
    said = answer.json()["error"]
    assert answer.status_code == status and all(word in said for word in words), (answer.status_code, said)


@pytest.fixture(autouse=True)
def alive_afterwards(client):
    yield
    assert client.get("/api/alive").json() == {"alive": True}


@pytest.fixture(autouse=True, scope="module")
def runs_afterwards(client):
    yield
    assert heard(client.post("/api/run", json={"model": "KMeans"}))[-1]["type"] == "end"


ASKS = [
    ("get", "/api/models"),
    ("get", "/api/model/KMeans"),
    ("get", "/api/topics"),
    ("get", "/api/lessons"),
    ("get", "/api/alive"),
    ("post", "/api/run"),
    ("post", "/api/table"),
    ("post", "/api/film"),
]


@pytest.mark.parametrize("how, path", ASKS)
def test_nothing_without_the_token(client, how, path):
    refused(client.request(how, path, headers={"x-gnomon-token": "wrong"}), 401, "token", "gnomon lab")
    refused(client.request(how, path, headers={"x-gnomon-token": ""}), 401, "token")
    refused(client.request(how, path, headers={"x-gnomon-token": "ü".encode()}), 401, "token")


@pytest.mark.parametrize("how, path", [*ASKS, ("get", "/"), ("get", "/lab.js")])
@pytest.mark.parametrize(
    "header",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"host": "evil.example"},
        {"host": "127.0.0.1.evil.example"},
        {"origin": "http://127.0.0.1:1"},
    ],
)
def test_no_other_page_can_drive_it(client, how, path, header):
    refused(client.request(how, path, headers=header), 403)


def test_a_page_elsewhere_cannot_ask_even_without_an_origin(client):
    refused(client.get("/api/models", headers={"sec-fetch-site": "cross-site"}), 403, "another page")


def test_its_own_page_can(client):
    assert client.get("/api/alive", headers={"origin": "http://127.0.0.1:8765"}).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b"null",
        b"[]",
        b'"KMeans"',
        b'{"model": 3}',
        b'{"model": "KMeans", "data": []}',
        b'{"model": "KMeans", "settings": []}',
        b'{"model": "KMeans", "settings": {"n_clusters": {"$": 1}}}',
        b'{"model": "os.system"}',
        b'{"model": "../../etc/passwd"}',
        b'{"model": "__import__"}',
        b'{"model": "KMeans\\u0000"}',
    ],
)
def test_broken_messages(client, body):
    answer = client.post("/api/run", content=body)
    assert answer.status_code in (400, 422) and answer.json()["error"]


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"n_clusters": 10**9}, ("n_clusters", "10000")),
        ({"nonsense": 1}, ("no setting", "nonsense")),
        ({"n_jobs": 64}, ("no setting", "n_jobs")),
        ({"init": "x" * 5000}, ("init", "200")),
        ({"n_clusters": [1] * 50}, ("n_clusters",)),
        ({"n_clusters": [9000, 9000]}, ("n_clusters", "81000000", "1000000")),
    ],
)
def test_settings_have_limits(client, settings, words):
    refused(client.post("/api/run", json={"model": "KMeans", "settings": settings}), 422, *words)


def test_a_setting_that_the_model_refuses_is_said_on_the_page(client):
    last = heard(client.post("/api/run", json={"model": "KMeans", "settings": {"n_clusters": -1}}))
    failed = [line for line in last if line["type"] == "failed"]
    assert len(failed) == 1 and "n_clusters" in failed[0]["said"] and "-1" in failed[0]["said"]


def test_text_of_a_setting_is_never_code(client):
    lines = heard(
        client.post(
            "/api/run",
            json={"model": "MLPClassifier", "settings": {"hidden_layer_sizes": "__import__('os').getpid()"}},
        )
    )
    assert any(line["type"] == "failed" and "hidden_layer_sizes" in line["said"] for line in lines)


@pytest.mark.parametrize(
    "data, words",
    [
        ({"sample": "casino"}, ("does not learn from", "casino")),
        ({"sample": "clouds", "n": 10**9}, ("n must lie between",)),
        ({"sample": "clouds", "n": "many"}, ("n must lie between",)),
        ({"sample": "clouds", "spread": None}, ("spread must lie between",)),
        ({"points": [], "paint": "clouds"}, ("between 1 and 2000",)),
        ({"points": [[0, 0, 0]] * 2001, "paint": "clouds"}, ("between 1 and 2000",)),
        ({"points": [[0, 0]], "paint": "clouds"}, ("three finite numbers",)),
        ({"points": [[0, 0, "x"]], "paint": "clouds"}, ("three numbers",)),
        ({"points": [[0, 1e300, 0]], "paint": "clouds"}, ("three finite numbers",)),
        ({"points": [[0, 0, 0]], "paint": "anything"}, ("classes, numbers or clouds",)),
    ],
)
def test_data_have_limits(client, data, words):
    refused(client.post("/api/run", json={"model": "KMeans", "data": data}), 422, *words)


def test_a_table_that_is_gone(client):
    refused(
        client.post("/api/run", json={"model": "KMeans", "data": {"table": "x"}}), 404, "drop the file again"
    )


def test_a_huge_file_is_refused_before_it_is_read(client):
    answer = client.post("/api/table", content=b"x", headers={"content-length": str(500_000_000)})
    refused(answer, 413, "50 MB")


def test_a_huge_file_without_a_length_is_refused_on_the_way(client, monkeypatch):
    monkeypatch.setattr(application, "MAX_TABLE", 1_000_000)
    sent = []

    def endless():
        for k in range(500):
            sent.append(k)
            yield b"1,2\n" * 25_000

    refused(client.post("/api/table", content=endless()), 413, "1 MB")


@pytest.mark.parametrize(
    "body, words",
    [
        (b"", ()),
        (b"\x00\x01\x02", ()),
        (b"a,b\n1\n", ()),
        (b"a,a\n1,2\n", ("a",)),
        (b"a,b\n", ("no rows",)),
        (b"\xff\xfea", ()),
    ],
)
def test_bad_tables(client, body, words):
    refused(client.post("/api/table?name=t.csv", content=body), 422, *words)


def test_a_table_name_reaches_no_other_file(client):
    told = client.post("/api/table?name=../../../etc/passwd.csv", content=b"a,b\n1,2\n3,4\n").json()
    assert told["name"] == "passwd.csv"
    refused(client.post("/api/table?name=x.pickle", content=b"a"), 422, "ending")


def test_a_script_in_a_column_name_is_text(client):
    name = "<script>alert(1)</script>"
    rows = "\n".join(f"{i % 7},{(3 * i) % 5},{'yes' if i % 7 > 3 else 'no'}" for i in range(60))
    table = client.post("/api/table?name=t.csv", content=f"{name},b,c\n{rows}\n".encode()).json()
    assert table["columns"][0] == name
    answer = client.post(
        "/api/run", json={"model": "DecisionTreeClassifier", "data": {"table": table["table"], "target": "c"}}
    )
    head, *lines = heard(answer)
    assert (
        answer.headers["content-type"].startswith("application/x-ndjson")
        and answer.headers["x-content-type-options"] == "nosniff"
    )
    assert (
        "script-src 'self'" in answer.headers["content-security-policy"]
        and head["points"]["names"][0] == name
    )
    assert lines[-1]["type"] == "end" and lines[-2]["type"] == "step"


def test_an_unknown_target_is_said(client):
    table = client.post("/api/table?name=t.csv", content=b"a,b\n1,2\n3,4\n5,6\n").json()
    refused(
        client.post(
            "/api/run", json={"model": "LinearRegression", "data": {"table": table["table"], "target": "zz"}}
        ),
        422,
        "zz",
    )


def test_only_so_many_fits_at_once(client, lab):
    taken = 0
    while lab.places.acquire(blocking=False):
        taken += 1
    try:
        assert taken == application.MAX_RUNS
        for _ in range(100):  # a hundred tabs
            refused(client.post("/api/run", json={"model": "KMeans"}), 429, "fits are going on")
    finally:
        for _ in range(taken):
            lab.places.release()


def test_places_come_back_after_runs(client, lab):
    for _ in range(application.MAX_RUNS + 2):
        assert heard(client.post("/api/run", json={"model": "KMeans"}))[-1]["type"] == "end"
        failed = client.post("/api/run", json={"model": "KMeans", "settings": {"n_clusters": -1}})
        assert failed.status_code == 200


class Endless(BaseEstimator):
    """A learner that never ends by itself."""

    def __init__(self):
        self.steps = 0

    def iterate(self, X):
        while True:
            self.steps += 1
            time.sleep(0.002)
            yield self


def test_a_fit_stops_when_nobody_reads():
    over = threading.Event()
    model = Endless()
    run = runs.Run(runs.Job(model, gather({}, data_for(find("KMeans"))), {}), over=over.set)
    lines = run.lines()
    assert json.loads(next(lines))["type"] == "head" and json.loads(next(lines))["type"] == "step"
    lines.close()  # the page goes
    assert over.wait(10)
    run.thread.join(10)
    assert not run.thread.is_alive()


def test_a_fit_stops_after_its_time(monkeypatch):
    monkeypatch.setattr(runs, "MAX_SECONDS", 0.05)
    told = list(runs.Run(runs.Job(Endless(), gather({}, data_for(find("KMeans"))), {})).lines())
    assert "stopped after" in json.loads(told[-2])["said"] and json.loads(told[-1])["type"] == "end"


def test_a_fit_that_fails_says_why():
    class Fails(BaseEstimator):
        def iterate(self, X):
            yield from ()
            raise RuntimeError("the sky fell")

    told = [
        json.loads(x) for x in runs.Run(runs.Job(Fails(), gather({}, data_for(find("KMeans"))), {})).lines()
    ]
    assert told[-2] == {"type": "failed", "said": "Fails failed (RuntimeError): the sky fell"}


def test_later_steps_are_drawn_less_often_and_the_last_always():
    class Long:
        def iterate(self, X):
            yield from (step for step in range(1002))

    clouds = gather({}, data_for(find("KMeans")))
    shown = [step for step, _ in runs.steps(Long(), clouds)]
    assert shown[:104] == [*range(101), 102, 104, 106]
    assert shown[-2:] == [992, 1001] and len(shown) == len(set(shown)) < 280
    mixture = GaussianMixture(2, max_iter=1001, tol=0, random_state=0)  # goes several steps at once
    assert [(step, len(copy.trace_)) for step, copy in runs.steps(mixture, clouds)] == [(k, k) for k in shown]


def test_files_of_the_page_and_no_others(client):
    page = client.get("/")
    assert page.status_code == 200 and "gnomon lab" in page.text and "://" not in page.text
    for name in application.bundled():
        assert client.get(f"/{name}").status_code == 200
    for name in (
        "../server.py",
        "%2e%2e/server.py",
        "..%2fserver.py",
        "server.py",
        "nothing.js",
        "static/lab.js",
    ):
        assert client.get(f"/{name}").status_code == 404


def test_the_page_asks_nobody_else():
    for name, body in application.bundled().items():
        if name.endswith((".js", ".css", ".html")):
            text = body.decode()
            assert (
                "//cdn" not in text
                and "@import" not in text
                and "fetch('http" not in text
                and 'fetch("http' not in text
            )


def test_the_page_is_small():
    import gzip

    assert sum(len(gzip.compress(body)) for body in application.bundled().values()) < 1_000_000


@pytest.mark.parametrize("lesson", lessons.LESSONS, ids=lambda lesson: lesson.name)
def test_lessons_run(lab, lesson):
    assert len(lesson.sentences) == 3 and all(
        s.endswith((".", "?")) for s in (*lesson.sentences, lesson.attempt)
    )
    for asked in lesson.models:
        model, material, _ = lab.job({**asked, "data": lesson.data})
        *_, (step, last) = runs.steps(model, material)
        shown = frame(last, step, material, view(material))["panels"]
        assert shown and all(panel["kind"] != "note" for panel in shown)


def test_lesson_names_are_their_own():
    names = [lesson.name for lesson in lessons.LESSONS]
    assert len(set(names)) == len(names)


def png(color, size=(20, 10)):
    out = io.BytesIO()
    Image.new("RGB", size, color).save(out, "PNG")
    return struct.pack(">I", len(out.getvalue())) + out.getvalue()


def test_a_film_has_the_frames_in_order(client):
    answer = client.post("/api/film", content=png("red") + png("lime") + png("blue"))
    made = Image.open(io.BytesIO(answer.content))
    colors = []
    for k in range(made.n_frames):
        made.seek(k)
        colors.append(made.convert("RGB").getpixel((5, 5)))
    assert colors == [(255, 0, 0), (0, 255, 0), (0, 0, 255)]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x00\x00\x00\x05ab",
        struct.pack(">I", 4) + b"GIF8",
        png("red") + b"\x00",
        png("red", (3000, 3000)),
    ],
)
def test_bad_films(client, body):
    refused(client.post("/api/film", content=body), 422, "f")


def test_film_frames_are_counted():
    with pytest.raises(ValueError, match="400 whole frames"):
        film.gif(png("red", (1, 1)) * 401)


def test_the_token_is_kept_and_private(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    first = server.kept_token()
    path = tmp_path / "gnomon" / "lab-token"
    assert server.kept_token() == first and path.stat().st_mode & 0o777 == 0o600 and len(first) >= 32
    path.chmod(0o644)  # somebody may have read it
    assert server.kept_token() != first


def test_opening_a_scene(lab, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("a,price\n" + "\n".join(f"{i},{i * 1.5}" for i in range(30)))
    asked = server.opening(lab, str(table), "price")
    assert asked["model"] == "DecisionTreeRegressor" and json.loads(asked["data"])["target"] == "price"
    assert server.opening(lab, "SVC", None) == {"model": "SVC"} and server.opening(lab, "casino", None) == {
        "lesson": "casino"
    }
    with pytest.raises(ValueError, match="KMeans"):
        server.opening(lab, "KMean", None)
    with pytest.raises(ValueError, match="'cost'.*price"):
        server.opening(lab, str(table), "cost")


def test_painted_points_are_the_data(client):
    points = [[0.0, 0.0, 0], [0.1, 0.0, 0], [5.0, 5.0, 1], [5.1, 5.0, 1]]
    lines = heard(
        client.post(
            "/api/run",
            json={"model": "DecisionTreeClassifier", "data": {"points": points, "paint": "classes"}},
        )
    )
    assert lines[0]["points"]["xy"] == [p[:2] for p in points] and lines[0]["points"]["groups"] == [
        "0",
        "0",
        "1",
        "1",
    ]
    assert "100.0% right" in lines[-2]["panels"][0]["title"]


def test_make_gives_the_same_model_twice():
    cls = find("KMeans")
    X = gather({}, data_for(cls)).X
    one, other = make(cls, {}).fit(X), make(cls, {}).fit(X)
    assert np.array_equal(one.cluster_centers_, other.cluster_centers_)


def test_a_fit_that_wants_all_the_memory_fails_alone():
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_DATA)
    with server.limited_memory(0.5):
        allowed = resource.getrlimit(resource.RLIMIT_DATA)[0]
        with pytest.raises(MemoryError):
            np.empty(allowed, dtype=np.uint8)
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


def test_every_model_has_a_formula_that_browsers_draw():
    for name in learners.catalog():
        made = formula_of(find(name))
        assert made.startswith("<math") and "\\" not in made, name
        latex = next((found for base in inspect.getmro(find(name)) if (found := formula(base))), "")
        assert latex.count("{") == latex.count("}"), f"the formula of {name} breaks off"


def test_a_step_says_numbers(client):
    for name in ("LinearDiscriminantAnalysis", "CoinPosterior", "DeviationExperiment", "KMeans"):
        said = heard(client.post("/api/run", json={"model": name}))[-2]["said"]
        assert sum(part[0].isdigit() for part in said.replace("n = ", "").split()) >= 2, said
