"""The child process that recognises speech with Moonshine's own library, until its standard input closes.

The library and its weights come as one downloaded package that includes its own ONNX Runtime. Running it in a separate
process prevents a conflict with the app's own. When ready, the child writes `{"ready": true}`. Each request on standard
input is a four-byte little-endian length followed by that many bytes of float32 audio at 16 kHz. The reply is a line
`{"text": …}` with the words, or `{"error": …}`.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from app.platform.children import answers_of_child, send_line

RATE = 16_000
OPTIONS = {
    "vad_threshold": "0",  # the app itself detects where a turn starts and ends
    "return_audio_data": "false",
    "identify_speakers": "false",
}


def main(argv: list[str]) -> int:
    """Serves requests with the weights in the folder `argv[0]`, which must be inside the library's package."""
    answers = answers_of_child(2)
    os.environ["MOONSHINE_ORT_SINGLE_THREAD"] = "1"  # with two, half the CPU time is spent waiting
    weights = Path(argv[0]).absolute()
    transcriber = _open(weights)
    transcriber.transcribe_without_streaming([0.0] * RATE, RATE)  # the first call is slow
    send_line(answers, {"ready": True})
    while head := sys.stdin.buffer.read(4):
        raw = sys.stdin.buffer.read(int.from_bytes(head, "little"))
        try:
            lines = transcriber.transcribe_without_streaming(np.frombuffer(raw, "<f4").tolist(), RATE).lines
            answer = {"text": " ".join(line.text.strip() for line in lines)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        send_line(answers, answer)
    return 0


def _open(weights: Path) -> Any:
    # A stub for the package, because importing the real one would import its download code.
    package = ModuleType("moonshine_voice")
    package.__path__ = [str(weights.parents[1])]
    sys.modules["moonshine_voice"] = package
    architecture = importlib.import_module("moonshine_voice.moonshine_api").ModelArch.TINY
    return importlib.import_module("moonshine_voice.transcriber").Transcriber(weights, architecture, options=OPTIONS)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
