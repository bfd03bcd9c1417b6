"""`bench turns`: how often a speaker who pauses is cut off, and how soon after the end the turn is ended.

The real voice detector, recogniser and judges listen to spoken questions with pauses put in, and to real speakers, in
the sound's own time.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import soundfile

from app.conversation import events as e
from app.conversation.endpointing import PauseLengths
from app.conversation.turn import TurnSettings, TurnTracker
from app.diagnostics.tables import Progress, no_progress
from app.models.locations import default_model
from app.platform.installation import completing_command
from app.research.benches.endpointing_result import Cut, EndpointingResult, Outcome
from app.research.benches.listening import Listener
from app.research.benches.pauses import Case, bench_cases, recorded_cases, spoken_cases
from app.research.benches.people import people
from app.research.benches.speech_models import SpeechModels, speech_models
from app.stt.base import TranscriberError
from app.stt.endpointing_weights import end_weights


def follow(
    case: Case, models: SpeechModels, settings: TurnSettings | None = None, *, pauses: PauseLengths | None = None
) -> Outcome:
    """Listens to one case; an answer sounds after each turn's end until it is interrupted."""
    tracker = TurnTracker(end_weights(), settings, pauses=pauses)
    listener = Listener(models.voice_detector(), models.transcriber(), tracker, answers=True)
    cuts: list[Cut] = []
    delay, reason, words = None, "", ""
    for _, happened in listener.listen(case.samples):
        for one in happened:
            match one:
                case e.UserStarted(at) | e.UserResumed(at):
                    if cuts and cuts[-1].silent_at is None:
                        cuts[-1] = replace(cuts[-1], silent_at=at)
                case e.UserEnded(at, _, speech_end, why):
                    resumed, untold = case.resumes(speech_end), case.is_untold(speech_end)
                    if resumed is not None and not untold:
                        cuts.append(Cut(at, resumed, None))
                    elif delay is None:
                        # At an untold pause the speaker had finished for all that anybody could know.
                        delay, reason, words = at - (speech_end if untold else case.end), why, listener.words
    return Outcome(case, tuple(cuts), delay, words, reason)


def run_endpointing(
    *,
    cases: int = 0,
    part: int = 2,
    recordings: Path | None = None,
    people_in: Path | None = None,
    progress: Progress = no_progress,
) -> EndpointingResult:
    """Listens, with the app's own models, to the bench's questions (parts 0 and 1) and to what the app's voice says;
    also to MT-Bench spoken in `recordings`, and to the real speakers in `people_in`, if given. `part`: one of PARTS, by
    its index; `cases`: the first of each, 0 for all. Raises TranscriberError and VoiceError.
    """
    result = EndpointingResult()
    with speech_models() as models:
        progress("speaking and cutting the questions")
        found = _questions(models, part, recordings, cases, result.left_out)[: cases or None]
        if people_in is not None:
            found += people(people_in, models.transcribe, models.voice_detector, part)[: cases or None]
        if not found:
            raise TranscriberError(
                "There is nothing to listen to: the voice is not installed. "
                f"Set the app up again: {completing_command()}."
            )
        result.left_out += models.left_out
        pauses: dict[str, PauseLengths] = {}
        for number, case in enumerate(found, 1):
            progress(f"case {number} of {len(found)}")
            known = pauses.setdefault(case.speaker, PauseLengths()) if case.speaker else None
            result.outcomes.append(follow(case, models, pauses=known))
    return result


def _questions(models: SpeechModels, part: int, recordings: Path | None, most: int, left_out: list[str]) -> list[Case]:
    """The synthetic cases; adds a sentence to `left_out` for each kind that is missing."""
    from app.tts.voices import make_voice

    found = bench_cases(models.transcribe, part)
    if recordings is not None:
        if not recordings.is_dir():
            raise TranscriberError(f"There is no folder {recordings}. Name one with recordings in it.")
        try:
            found += recorded_cases(recordings, models.transcribe, part)
        except soundfile.LibsndfileError as error:
            sentence = f"A recording can't be read: {error} Each is to be VOICE/QUESTION_TURN.flac."
            raise TranscriberError(sentence) from error
    if default_model("tts").is_file():
        with make_voice() as voice:
            found += spoken_cases(
                lambda text: voice.synthesize(text).result().samples, models.transcribe, part, most=most
            )
    else:
        left_out.append("The voice is not installed, so only recordings were heard.")
    if found.left_out:
        left_out.append(f"{len(found.left_out)} could not be cut between two words: {', '.join(found.left_out)}.")
    return found.made
