"""Chooses a session's recogniser from the catalogue: the one named by the user, or the best one for the language."""

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
"""Maximum time in seconds for a pass over 5 s of audio if a recogniser is to be chosen automatically. Audio of up to
that length is decoded every 0.4 s, and at a pause the app waits for the words."""
WORKING_BYTES = 600_000_000
"""Allowance for CTranslate2's context, kernels and activations in GPU memory. An estimate, not a measurement."""
CHOSEN_ENGINE = "whisper"
"""The automatic choice is limited to one engine, because larger models are only known to be better within an engine."""


def choose_recogniser(
    key: str = "",
    language: str = "en",
    *,
    here: Callable[[str], bool] = is_here,
    speeds: Mapping[str, Speed] | None = None,
) -> Model:
    """Returns the recogniser `key`, or if that is empty, the best one for `language` (a two-letter code or "auto").

    - `here`: returns whether a model is installed.
    - `speeds`: the speeds measured on this machine, loaded from disk by default.

    Raises TranscriberError if there is no suitable recogniser.
    """
    if key:
        return _named(key, language, here)
    known = load_speeds() if speeds is None else speeds
    models = [m for m in models_of("stt") if m.engine == CHOSEN_ENGINE and _recognises(m, language) and here(m.key)]
    quick = [m for m in models if m.key in known and known[m.key].first <= SLOWEST_PASS]
    default = [m for m in models if m.key == DEFAULTS["stt"]]
    if quick or default:
        return max(quick or default, key=lambda m: m.bytes)
    if models:  # none is known to be fast enough; the smallest is the most likely to be
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
    """Returns how many bytes of GPU memory a session's recogniser needs, estimated from its float16 weights on disk.

    Returns 0 if the recogniser runs on the CPU or none is suitable, which the session itself reports. `key` and
    `language` are as in `choose_recogniser`.
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
