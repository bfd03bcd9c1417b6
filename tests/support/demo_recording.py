"""Makes the recordings that come with the app, on this machine and in real time.

    python -m tests.support.demo_recording NAME [FOLDER]

NAME is a part of a model's name; the recordings are written to FOLDER, by default that of the app's resources.
"""

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import soundfile

from app import main as compose
from app.conversation import events as e
from app.conversation.event_json import to_json
from app.conversation.frame import SAMPLE_RATE
from app.demo.base import SIDES, DemoOffer, chosen_backends
from app.demo.record import Pair, record_pair
from app.demo.shipped import INDEX
from app.platform.hardware import processor_name
from app.platform.installation import resource

UNSEEN = (e.OracleFed, e.OracleCounted, e.SpeechDecided)
"""Events that leave no trace in a replay."""


def save_pairs(folder: Path, pairs: Sequence[Pair]) -> None:
    """Writes recordings to `folder`, with a description of this machine. Raises OSError."""
    rows: list[dict[str, Any]] = []
    for number, pair in enumerate(pairs, 1):
        row: dict[str, Any] = {"question": pair.takes["tandem"].question.text}
        for side in SIDES:
            made, voice = pair.takes[side], f"answer-{number}-{side}.ogg"
            soundfile.write(folder / voice, made.sound, SAMPLE_RATE, format="OGG", subtype="VORBIS")
            lines = [to_json(event) for event in made.events if not isinstance(event, UNSEEN)]
            kept = [json.loads(line, parse_float=lambda number: round(float(number), 3)) for line in lines]
            values = {name: getattr(made, name) for name in ("start", "seconds", "heard", "said", "trouble")}
            row[side] = {**values, "voice": voice, "events": kept}
        rows.append(row)
    machine = f"{processor_name()}, {os.cpu_count()} cores"
    found = {"machine": machine, "began": pairs[0].began, "backend": pairs[0].backend, "pairs": rows}
    (folder / INDEX).write_text(json.dumps(found, separators=(",", ":")), "utf-8")


async def record(name: str, folder: Path) -> None:
    """Asks both sides all questions."""
    service = compose.make_demo_service(False)
    offer = await service.offer()
    offer = DemoOffer(chosen_backends(offer.backends, (name,)), offer.frontend)
    pairs = []
    for number, question in enumerate(service.questions):
        pairs.append(await record_pair(service, offer, 0, question, SIDES[number % 2]))
        print(pairs[-1].figure(), flush=True)
    save_pairs(folder, pairs)


if __name__ == "__main__":
    asyncio.run(record(sys.argv[1], Path(sys.argv[2]) if len(sys.argv) > 2 else resource("demo")))
