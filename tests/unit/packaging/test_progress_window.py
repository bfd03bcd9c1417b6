"""Tests the progress window: its steps, its problems, and cancelling by closing it."""

import textwrap

import pytest

from installation import progress_window
from installation.progress_window import View, ZenityView, make_view, words_of
from tests.unit.packaging.fakes import posix_only, program

pytestmark = posix_only

PROBLEM = {"happened": "The disk is full.", "meaning": "Not all was written.", "remedy": "Make room."}


class SeenView(View):
    """Records what is shown; closes itself after some reports, and gives a set answer to questions."""

    def __init__(self, closes_after: int | None = None, answers: tuple = ()) -> None:
        self.shown: list[str] = []
        self.asked: list[str] = []
        self.closed = 0
        self._closes_after, self._answers = closes_after, list(answers)

    def show(self, report):
        self.shown.append(report.get("step") or report.get("say"))

    def is_open(self):
        return self._closes_after is None or len(self.shown) < self._closes_after

    def close(self):
        self.closed += 1

    def ask_to_retry(self, problem):
        self.asked.append(words_of(problem))
        return self._answers.pop(0)


@pytest.fixture
def started(tmp_path, monkeypatch):
    """Starts with a launcher that runs the given lines of Python, and with a view."""
    folder = tmp_path / "packaging"
    (folder / "installation").mkdir(parents=True)
    monkeypatch.setattr(progress_window, "HERE", folder / "installation")
    monkeypatch.setattr(progress_window, "SECONDS_UNTIL_THE_APP_SHOWS", 0)
    monkeypatch.setattr(progress_window.system_parts, "sentence", lambda: "")

    def start(lines: str, view: View) -> int:
        head = "import json, os, sys\ndef report(**what): print(json.dumps(what), flush=True)\n"
        (folder / "launcher.py").write_text(head + textwrap.dedent(lines))
        monkeypatch.setattr(progress_window, "make_view", lambda: view)
        return progress_window.start(["--some", "argument"])

    return start


def test_a_start_without_a_set_up_shows_nothing(started):
    view = SeenView()
    assert started("assert sys.argv[1:] == ['--report', 'start', '--some', 'argument']\nreport(ready=True)", view) == 0
    assert view.shown == []


def test_the_steps_of_a_set_up_are_shown_until_the_app_starts(started):
    view = SeenView()
    lines = "report(step='Looking'); report(say='Wait'); print('no json', flush=True); report(ready=True)"
    assert started(lines, view) == 0
    assert view.shown == ["Looking", "Wait", "Starting KAME Desktop"]
    assert view.closed == 1


def test_closing_the_window_ends_the_set_up_by_closing_its_input(started, tmp_path):
    view = SeenView(closes_after=1)
    ended = tmp_path / "ended"
    lines = f"report(step='Fetching'); sys.stdin.read(); open({str(ended)!r}, 'w').write('politely')"
    assert started(lines, view) == progress_window.CANCELLED
    assert ended.read_text() == "politely"
    assert view.asked == []


def test_a_problem_is_shown_and_can_be_retried(started, tmp_path):
    view = SeenView(answers=(True, False))
    lines = f"report(step='Fetching'); report(problem={PROBLEM!r}); sys.exit(2)"
    assert started(lines, view) == progress_window.USER_CAN_FIX
    assert view.asked == ["The disk is full.\n\nNot all was written.\n\nMake room."] * 2


def test_missing_libraries_are_named_where_the_app_could_not_start(started, monkeypatch):
    view = SeenView(answers=(False,))
    monkeypatch.setattr(progress_window.system_parts, "sentence", lambda: "Please type: sudo apt-get install libegl1")
    started(f"report(ready=True); report(problem={PROBLEM!r}); sys.exit(2)", view)
    assert "sudo apt-get install libegl1" in view.asked[0] and "Make room" not in view.asked[0]


def test_zenity_gets_texts_and_percentages_below_100(tmp_path, monkeypatch):
    got = tmp_path / "got"
    program(tmp_path / "bin" / "zenity", f'exec cat > "{got}"')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.delenv("DISPLAY", raising=False)
    view = make_view()
    assert isinstance(view, ZenityView)
    view.show({"step": "Fetching", "fraction": 1.0, "bytes": 2_000_000, "of": 2_000_000})
    view._child.stdin.close()
    view._child.wait()
    assert not view.is_open()
    assert got.read_text() == "# Fetching \\n2 of 2 MB\n99\n"


def test_without_any_means_the_problem_is_printed(monkeypatch, capsys):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setattr(progress_window.shutil, "which", lambda name: None)
    assert make_view().ask_to_retry(PROBLEM) is False
    assert "Make room." in capsys.readouterr().out
