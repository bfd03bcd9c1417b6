"""What `talk` says of a conversation at its end."""

import contextlib
import io

import pytest

from app.cli.output import Terminal
from app.cli.talk_report import TalkReport
from app.conversation import events as e


@pytest.mark.parametrize("paced", [True, False])
def test_a_time_that_no_user_waits_is_named_as_such(paced: bool) -> None:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        report = TalkReport(Terminal(as_json=False), paced=paced)
        for event in (
            e.UserStarted(0.5, 1),
            e.TranscriptFinal(2.2, 1, "What is the capital of Norway?", 2.0),
            e.UserEnded(2.3, 1, 2.0, "words"),
            e.AssistantStarted(2.59, 1, 1),
            e.SessionEnded(5.0, 62),
        ):
            report.take(event)
        report.say_summary()
    summary = report.summary()
    assert "answered after 0.59 s" in out.getvalue()
    assert ("faster than real time; --realtime" in out.getvalue()) is not paced
    assert summary["paced"] is paced
    assert summary.get("response_seconds") == ([0.59] if paced else None)
    assert summary.get("response_seconds_in_file") == (None if paced else [0.59])
