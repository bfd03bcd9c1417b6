"""Chooses a session's recogniser from the catalogue: the one that the user has named, or the best for the language."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from app.conversation.languages import AUTOMATIC
from app.models.catalogue import ANY, DEFAULTS, Model, ModelError, find_model, models_of
from app.models.locations import is_here, model_path
from app.models.selection import Speed, load_speeds
from app.platform.installation import completing_command
from app.stt.base import TranscriberError
from app.stt.whisper_decoder import runs_on_card

SLOWEST_PASS = 0.35
"""Seconds that a pass over five seconds of sound may take for the app to choose a recogniser by itself. At that length
the sound is decoded every 0.4 s, and in a pause the words are waited for."""
WORKING_BYTES = 600_000_000
"""CTranslate2's context on the card, kernels and activations. An allowance, not a measurement."""
CHOSEN_ENGINE = "whisper"
"""The app chooses among models of one engine, which can be told apart by size: the larger one errs less."""


def choose_recogniser(
    key: str = "",
    language: str = "en",
    *,
    here: Callable[[str], bool] = is_here,
    speeds: Mapping[str, Speed] | None = None,
) -> Model:
    """Return the recogniser `key`, or the app's choice for `language`, its two letters or "auto".

    `speeds`: as measured on this machine. Raise TranscriberError with a sentence when there is none.
    """
    if key:
        return _named(key, language, here)
    known = load_speeds() if speeds is None else speeds
    models = [m for m in models_of("stt") if m.engine == CHOSEN_ENGINE and _recognises(m, language) and here(m.key)]
    quick = [m for m in models if m.key in known and known[m.key].first <= SLOWEST_PASS]
    default = [m for m in models if m.key == DEFAULTS["stt"]]
    if quick or default:
        return max(quick or default, key=lambda m: m.bytes)
    if models:  # none is known to keep up: the smallest one errs more, but is the likeliest to
        return min(models, key=lambda m: m.bytes)
    if language == "en":
        raise TranscriberError(
            "The speech recognition model is not installed, so nothing can be heard. Set the app up again: "
            f"{completing_command()}."
        )
    what = "that finds out the language" if language == AUTOMATIC else f"for the conversation's language ({language})"
    raise TranscriberError(
        f"No speech recognition {what} is on this machine, so nothing can be heard. Get one with “models get "
        "whisper-base”, or choose English."
    )


def recogniser_card_bytes(key: str, language: str) -> int:
    """Return the bytes of a graphics card that a session's recogniser takes, weights in float16 as they lie on disk.

    0 where it runs on the processor, and where there is none, which the session itself will report. `key`, `language`:
    as for `choose_recogniser`.
    """
    try:
        model = choose_recogniser(key, language)
        folder = model_path(model.key)
        if model.engine != "whisper" or not runs_on_card(folder):
            return 0
        return (folder / "model.bin").stat().st_size + WORKING_BYTES
    except (TranscriberError, OSError):
        return 0


def _named(key: str, language: str, here: Callable[[str], bool]) -> Model:
    try:
        model = find_model(key)
    except ModelError as error:
        raise TranscriberError(str(error)) from error
    if model.kind != "stt":
        names = ", ".join(m.key for m in models_of("stt"))
        raise TranscriberError(f"{model.label} doesn't recognise speech. What does: {names}.")
    if not here(key):
        raise TranscriberError(
            f"{model.label} is not on this machine, so nothing can be heard. Get it with “models get {key}”, or leave "
            "the choice of speech recognition to the app."
        )
    if language != AUTOMATIC and not model.speaks(language):
        raise TranscriberError(
            f"{model.label} doesn't know the conversation's language ({language}), but {', '.join(model.languages)}. "
            "Choose another speech recognition, or leave the choice to the app."
        )
    return model


def _recognises(model: Model, language: str) -> bool:
    return ANY in model.languages if language == AUTOMATIC else model.speaks(language)
