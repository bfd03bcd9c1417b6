"""Runs one step of `bench card`."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Any

from app.frontend.base import FrontEndError
from app.frontend.kame.engine.card_steps import faults, small, whole
from app.frontend.kame.engine.card_steps.base import LeftOutError, Report, Request, StepFailedError, described
from app.models.catalogue import ModelError
from app.platform import nvidia
from app.platform.children import answers_of_child, end_with_parent, send_line

STEPS: dict[str, Callable[[Request, Report, Any], None]] = {
    "card": small.card,
    "kernels": small.own_kernels,
    "checks": small.comparisons,
    "waits": small.no_waits,
    "attention": small.attention,
    "session": small.session,
    "capture": faults.capture,
    "fault": faults.fault,
    "fail": faults.fail,
    "full": whole.full,
    "plain": whole.plain,
    "load": whole.loading,
    "table": whole.table,
    "disturb": whole.disturb,
}


def main(argv: list[str]) -> int:
    """Runs the step that `argv` names; its last line has the outcome."""
    answers = answers_of_child(0)
    end_with_parent()
    logging.basicConfig(level=logging.WARNING)
    name, _, argument = argv[0].partition("-")
    outcome, sentence = "passed", ""
    report = Report(lambda facts: send_line(answers, facts))
    request = Request.read(argv[1])
    if request.on_card:
        nvidia.use_best_card()
    try:
        STEPS[name](request, report, argument)
    except (LeftOutError, FrontEndError) as error:
        outcome, sentence = "left out", str(error)
    except (StepFailedError, ModelError) as error:
        outcome, sentence = "failed", str(error)
    except Exception as error:
        logging.exception("The step failed")
        outcome, sentence = "failed", described(error)
    report.say(outcome=outcome, sentence=sentence)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
