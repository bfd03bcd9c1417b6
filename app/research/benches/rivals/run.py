"""Asks all assistants the same questions, one assistant after the other, on one language model's server."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from app.backend.base import PERSONA
from app.diagnostics.tables import Progress
from app.models.locations import default_model
from app.platform.children import python_module_command
from app.research.benches.listening import speech_models
from app.research.benches.pauses import people
from app.research.benches.recordings import SPEAKER_PARTS, load_questions
from app.research.benches.rivals.measure import Item, Measured, RivalsResult, ask
from app.research.benches.rivals.process import Assistant, AssistantProcess, python_of, usage_of
from app.session.errors import UserError

FIRST_SECONDS = 3.0
"""Silence before the first question: some assistants still load."""


def load_items(questions: int, folder: Path | None, utterances: int) -> list[Item]:
    """The bench's own questions, and utterances of people whom nothing was fitted to (`folder`), mixed. Raises
    TranscriberError.
    """
    items = (
        [Item(one.name, "synthetic", one.text, one.samples, one.end) for one in load_questions(max(0, questions))]
        if questions
        else []
    )
    if folder is not None and utterances:
        with speech_models() as models:
            cases = people(folder, models.transcribe, models.voice_detector, SPEAKER_PARTS - 1)
        whole = [case for case in cases if not case.untold]
        picked = random.Random(4).sample(whole, min(utterances, len(whole)))
        items += [Item(case.name, "people", case.text, case.samples, case.end) for case in picked]
    random.Random(1).shuffle(items)
    return items


def run_rivals(
    assistants: Sequence[Assistant],
    items: Sequence[Item],
    server: Mapping[str, str],
    server_pid: int,
    out: Path,
    progress: Progress,
) -> RivalsResult:
    """Asks `assistants` all `items`. `server`: `url`, `key` and `model` of a server of OpenAI's protocol; `server_pid`:
    its process, 0 if it is not on this machine. Results are written to `out` after each assistant. What `progress`
    raises ends the run. Raises UserError.
    """
    if not items:
        raise UserError("There is nothing to ask: give --questions, or --people with --utterances.")
    out.mkdir(parents=True, exist_ok=True)
    settings = {f"KAME_RIVAL_{name.upper()}": value for name, value in server.items()}
    settings |= {
        "KAME_RIVAL_PERSONA": PERSONA,
        "KAME_RIVAL_WHISPER": str(default_model("stt")),
        "KAME_RIVAL_VOICE": str(default_model("tts")),
    }
    result = RivalsResult(server["model"])
    for assistant in assistants:
        one = Measured(assistant.name, assistant.what)
        result.measured.append(one)
        try:
            _measure(assistant, one, items, settings, server_pid, out, progress)
        except UserError as error:
            one.trouble = str(error)
        (out / "results.json").write_text(json.dumps(result.document(), ensure_ascii=False, indent=1), "utf-8")
        (out / "results.md").write_text(result.table() + "\n", "utf-8")
    return result


def _measure(
    assistant: Assistant,
    one: Measured,
    items: Sequence[Item],
    settings: Mapping[str, str],
    server_pid: int,
    out: Path,
    progress: Progress,
) -> None:
    progress(f"{assistant.name} starts")
    with AssistantProcess(
        assistant.name, _command(assistant, progress), settings, out / f"{assistant.name}.log"
    ) as process:
        time.sleep(FIRST_SECONDS)
        began, before = time.perf_counter(), process.usage()[0]
        model_before = usage_of(server_pid)[0] if server_pid else 0.0
        for place, item in enumerate(items, 1):
            progress(f"{assistant.name}: question {place} of {len(items)}")
            one.outcomes.append(ask(process, item))
            if not process.alive:
                one.trouble = f"it ended at question {place}; its log says why."
                break
        seconds = time.perf_counter() - began
        used, one.memory = process.usage()
        one.processor = (used - before) / seconds
        if server_pid:
            one.model_processor = (usage_of(server_pid)[0] - model_before) / seconds


def _command(assistant: Assistant, progress: Progress) -> list[str]:
    if not assistant.driver:
        return python_module_command("app.research.benches.rivals.ours", assistant.name)
    driver = Path(__file__).parent / "drivers" / assistant.driver
    return [str(python_of(assistant, progress)), str(driver)]
