"""Speech recognition: voice activity detection, transcription of the user's turns, and endpointing.

Suggested reading order:

- `base.py`: the protocols, and the updates a transcriber reports.
- `silero.py`: voice activity detection, window by window.
- `streaming.py`: the transcriber, which decodes a growing turn repeatedly; `loudness.py`: loudness measurement;
  `stable_words.py`: the words on which successive passes agree; `swappable.py`: a transcriber that another one replaces
  between two turns.
- `endpointing.py`: estimates whether a turn is finished; `text_endpointing.py` (with `text_endpointing_worker.py`):
  does so from the words alone, and reads the fitted weights.
- `whisper_decoder.py` (with `whisper_library.py` and `cublas.py`), `moonshine.py` (with `moonshine_worker.py`): the
  decoders; `transcript_cleanup.py`: removes hallucinations from their text.
- `selection.py`: chooses the recogniser; `pooled.py`: builds a transcriber from pooled models, including Smart Turn,
  which estimates from the audio whether a turn is finished.

A session pushes every frame and calls `begin`, `pause` and `end` for each turn. Each pass over the turn's audio yields
words, reported as a `TranscriptUpdate`. The functions below import a recogniser's module only when it is used.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

from app.conversation.languages import AUTOMATIC
from app.models.catalogue import Model
from app.platform.installation import packages_command
from app.stt.base import Decoder, Transcriber, TranscriberError


@dataclass(frozen=True, slots=True)
class RecogniserSpec:
    """A speech recognition engine. `module` provides `open_decoder`, `lend_decoder` and `name_of`.

    `needs`: the optional package that the engine requires, if any.
    """

    label: str
    module: str
    needs: str = ""


ENGINES = {
    "whisper": RecogniserSpec("Whisper (this machine)", "app.stt.whisper_decoder", "faster_whisper"),
    "moonshine": RecogniserSpec("Moonshine (this machine)", "app.stt.moonshine"),
}


def make_transcriber(key: str, language: str, call_soon: Callable[[Callable[[], None]], object]) -> Transcriber:
    """Creates a transcriber. `key`: the recogniser, or empty to choose one; `language`: a language code or "auto".

    Raises TranscriberError if there is no suitable recogniser or its engine isn't installed.
    """
    from app.models.locations import model_path
    from app.stt.pooled import make_streaming
    from app.stt.selection import choose_recogniser

    model = choose_recogniser(key, language)
    engine, place = _module(model), model_path(model.key)
    return make_streaming(
        engine.name_of(place),
        lambda lent: engine.lend_decoder(lent, place, language),
        call_soon,
        english=language in ("en", AUTOMATIC),
    )


def open_decoder(model: Model, language: str = "en") -> Decoder:
    """Loads the decoder for a recogniser from the catalogue. Raises TranscriberError."""
    from app.models.locations import model_path

    return _module(model).open_decoder(model_path(model.key), language)


def _module(model: Model) -> ModuleType:
    spec = ENGINES[model.engine]
    if spec.needs and importlib.util.find_spec(spec.needs) is None:
        raise TranscriberError(
            f"{spec.label} is not installed (package {spec.needs}). Set the app up again: {packages_command()}."
        )
    return importlib.import_module(spec.module)
