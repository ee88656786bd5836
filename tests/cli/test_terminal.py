"""The command line as a person meets it: on a terminal, in a pipe, and stopped half-way."""

import ctypes
import os
import pty
import select
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import typer

from gnomon.cli.screen import guarded

COMMAND = [sys.executable, "-m", "gnomon.cli"]
SETTINGS = {**os.environ, "MPLBACKEND": "Agg", "COLUMNS": "100", "TERM": "xterm-256color"}


class Terminal:
    """A process on a terminal of its own."""

    def __init__(self, arguments, folder):
        self.screen, side = pty.openpty()
        self.process = subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            stdin=side, stdout=side, stderr=side, cwd=folder, env=SETTINGS, start_new_session=True,
        )  # fmt: skip
        os.close(side)
        self.seen = ""

    def read(self, until=None, seconds=500):
        """Read until a word appears, or until the process ends."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if select.select([self.screen], [], [], 0.1)[0]:
                try:
                    part = os.read(self.screen, 4096)
                except OSError:  # the other side is closed
                    break
                if not part:
                    break
                self.seen += part.decode(errors="replace")
            elif self.process.poll() is not None:
                break
            if until is not None and until in self.seen:
                return True
        return until is None

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.screen)


@pytest.fixture
def terminal(tmp_path):
    opened = []

    def start(*arguments):
        opened.append(Terminal(arguments, tmp_path))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


@pytest.fixture
def slow_table(tmp_path):
    """A table on which boosting takes a while."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 20))
    y = (X @ rng.normal(size=20) + rng.normal(size=3000) > 0).astype(int)
    names = ",".join([*(f"x{j}" for j in range(20)), "y"])
    np.savetxt(tmp_path / "slow.csv", np.column_stack([X, y]), "%.5g", ",", header=names, comments="")
    return tmp_path / "slow.csv"


def test_a_terminal_shows_a_bar_and_then_the_answer(terminal, flowers, tmp_path):
    shown = terminal(
        "compare", flowers, "--target", "kind", "--models", "GaussianNB,LinearDiscriminantAnalysis"
    )
    shown.read()
    assert shown.process.wait() == 0, shown.seen
    assert "━" in shown.seen and "/30" in shown.seen  # three models, ten folds each
    assert "predicts kind best" in shown.seen and "\x1b[?25h" in shown.seen  # the cursor is back
    assert (tmp_path / "gnomon-report" / "report.html").is_file()


def test_a_pipe_gets_plain_text(flowers, tmp_path):
    command = [*COMMAND, "compare", str(flowers), "--target", "kind", "--models", "GaussianNB"]
    done = subprocess.run(command, cwd=tmp_path, env=SETTINGS, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""
    assert "\x1b" not in done.stdout and "\r" not in done.stdout and "predicts kind best" in done.stdout


def test_ctrl_c_leaves_the_folder_as_it_was(terminal, slow_table, tmp_path):
    kept = tmp_path / "gnomon-report"
    kept.mkdir()
    (kept / "report.html").write_text("an earlier report")
    shown = terminal("compare", slow_table, "--target", "y", "--models", "GradientBoostingClassifier")
    assert shown.read(until="GradientBoostingClassifier"), shown.seen
    assert shown.process.poll() is None, "it was over before it could be stopped"
    shown.process.send_signal(signal.SIGINT)
    shown.read(seconds=60)
    assert shown.process.wait(timeout=60) == 130, shown.seen
    assert "stopped; no file was written" in shown.seen and "Traceback" not in shown.seen
    assert [path.name for path in kept.iterdir()] == ["report.html"]
    assert (kept / "report.html").read_text() == "an earlier report"


@pytest.mark.parametrize("mark", [signal.SIGINT, signal.SIGTERM])
def test_stopped_half_way_the_report_says_what_is_known(terminal, slow_table, tmp_path, mark):
    shown = terminal(
        "compare", slow_table, "--target", "y", "--models", "GaussianNB,GradientBoostingClassifier"
    )
    assert shown.read(until="GradientBoostingClassifier fold"), shown.seen
    shown.process.send_signal(mark)
    shown.read(seconds=60)
    assert shown.process.wait(timeout=60) == 130, shown.seen
    assert "GaussianNB predicts y best" in shown.seen and "before it was stopped" in shown.seen
    assert sorted(path.name for path in (tmp_path / "gnomon-report").iterdir()) == [
        "best.gnomon",
        "report.html",
    ]


@pytest.fixture
def heard():
    """Ctrl-C is heard even where the run was started in the background, which lets Python ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_inside_a_callback_is_not_lost(heard):
    reached = []

    def interrupted():
        raise KeyboardInterrupt  # as Python does for a signal that comes now

    @guarded
    def command():
        before = time.monotonic()
        ctypes.CFUNCTYPE(None)(interrupted)()
        reached.append("behind the callback")
        while time.monotonic() < before + 30:
            time.sleep(0.01)

    with pytest.raises(typer.Exit) as stopped:
        command()
    assert stopped.value.exit_code == 130 and reached == ["behind the callback"]


def test_watch_draws_on_a_terminal(terminal, line):
    shown = terminal("watch", "KMeans", line, "--set", "n_clusters=2", "--pause", "0")
    shown.read()
    assert shown.process.wait() == 0, shown.seen
    assert "KMeans, step 1: objective" in shown.seen
    assert any(0x2800 < ord(letter) < 0x2900 for letter in shown.seen)


def test_help_loads_nothing_heavy():
    code = (
        "import sys\nfrom typer.testing import CliRunner\nfrom gnomon.cli.app import app\n"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0\n"
        "print([m for m in ('numpy', 'sklearn', 'polars', 'matplotlib', 'numba') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
