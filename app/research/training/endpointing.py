"""Fits the weights of endpointing and writes them to `resources/turn_ends.json`.

`python -m app.research.training.endpointing --people FOLDER --cache FOLDER [--check]`

There are two ridge-regularised logistic regressions. The first gives the probability that a turn is finished, in three
variants: from its words and audio (`app.stt.text_endpointing.clues`) with the language model, the same without it, and
from its audio alone. The second adds the silence so far and the speaker's own pauses
(`app.conversation.turns.endpointing`). Both are fitted to the pauses of real callers (two of the three parts of the
speakers) and of synthetic questions (the first two of the three parts in `app.research.benches.pauses`), with equal
total weight. The bound, and a factor on the first regression, are chosen to cut off the fewest speakers while the
waits, cross-validated by speaker, stay within `MEDIAN_WAIT` and `LATE_WAIT`.

The samples are what the app's models know about each pause, frame by frame. A tracker that never ends a turn processes
each case in simulated time, so that a single pass yields what any policy would have known at each moment. Recognition
takes most of the time, so `CachedDecoder` caches its results on disk.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean

import numpy as np

from app.conversation.turns.endpointing import EndWeights, PauseLengths
from app.conversation.turns.tracker import TurnSettings, TurnTracker
from app.diagnostics.tables import Progress, markdown, quantile
from app.platform.files import write_json
from app.platform.installation import resource
from app.research.benches.pauses import Case
from app.research.benches.recordings import REPORTED, saying, speaker_part
from app.research.benches.timed_parts import FIRST_SOUND_SECONDS, Listener, SpeechModels, TimedTranscriber
from app.research.results import grouped
from app.stt.endpointing import Endpointing
from app.stt.streaming import Decoder
from app.stt.text_endpointing import WordOdds, clues, end_weights, sound_clue


@dataclass(frozen=True, slots=True)
class Look:
    """The information available `silence` seconds into a pause.

    Results of the judges are None until they are available.
    """

    silence: float
    sound: float | None
    text: str | None
    odds: WordOdds | None


@dataclass(frozen=True, slots=True)
class Pause:
    """A silence after voice that ended at `begin`. `resumes`: when the voice resumes; None at the true end.

    `untold`: nothing before the pause indicates that more follows. `slower`: `PauseLengths.slower` of the speaker's
    earlier pauses.
    """

    begin: float
    resumes: float | None
    untold: bool
    slower: float
    looks: tuple[Look, ...]


@dataclass(frozen=True, slots=True)
class Utterance:
    """A case with its pauses."""

    case: Case
    pauses: tuple[Pause, ...]


class CachedDecoder:
    """Caches the results of an English decoder in `folder`, keyed by a hash of the audio."""

    language = "en"

    def __init__(self, decoder: Decoder, folder: Path) -> None:
        self._decoder = decoder
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def close(self) -> None:
        self._decoder.close()

    def alive(self) -> bool:
        """Returns whether the decoder works."""
        return self._decoder.alive()

    def decode(self, samples: np.ndarray) -> str:
        """Returns the words of `samples` (float32, 16 kHz)."""
        file = self._folder / hashlib.sha256(np.ascontiguousarray(samples).tobytes()).hexdigest()[:32]
        if not file.is_file():
            file.write_text(self._decoder.decode(samples), encoding="utf-8")
        return file.read_text(encoding="utf-8")


class _PauseEndpointing(Endpointing):
    def report(self) -> None:
        """Reports a probability of 0, so that the tracker never ends the turn and later pauses are judged too."""
        if self.judged_sound is not None:
            self._on_finished(self.turn, 0.0, self.judged_sound[0])


class _PauseTranscriber(TimedTranscriber):
    """A transcriber whose knowledge of a pause can be queried at any time."""

    endpointing_type = _PauseEndpointing

    def look(self, silence: float, speech_end: float) -> Look:
        """Returns what is currently known about the pause that began at `speech_end`."""
        judged = self.endpointing.judged_sound
        sound = judged[1] if judged is not None and abs(judged[0] - speech_end) < 1e-6 else None
        text, odds = self.endpointing.judged_words(speech_end) or (None, None)
        return Look(silence, sound, text, odds)


class _OpenTracker(TurnTracker):
    """A turn tracker that never ends a turn."""

    def _end_silence(self) -> float:
        return math.inf

    @property
    def pause_begin(self) -> float | None:
        """When the voice ended, if in a pause; otherwise None."""
        return self._last_voice if self._state == "paused" else None


def listen(case: Case, pauses: PauseLengths, models: SpeechModels) -> Utterance:
    """Runs one case through the models. `pauses`: the speaker's pauses, which are updated."""
    tracker = _OpenTracker(end_weights(), pauses=pauses)
    transcriber = _PauseTranscriber(models.decoder, models.judge, models.words)
    looks: dict[float, list[Look]] = {}
    slower: dict[float, float] = {}
    for at, _ in Listener(models.voice_detector(), transcriber, tracker).listen(case.samples):
        begin = tracker.pause_begin
        if begin is not None:
            looks.setdefault(begin, []).append(transcriber.look(at - begin, begin))
            slower.setdefault(begin, pauses.slower)
    return Utterance(
        case,
        tuple(
            Pause(begin, case.resumes(begin), case.is_untold(begin), slower[begin], tuple(found))
            for begin, found in looks.items()
        ),
    )


Policy = tuple[float, float]

RIDGE = 1.0
FOLDS = 10
POLICIES = tuple((steep, round(0.1 * step, 1)) for steep in (1.0, 1.25, 1.5, 1.75, 2.0) for step in range(5, 31))
"""Scaling factors of the first regression relative to the silence, and bounds. A factor above 1 cuts off fewer
speakers at the same median wait, and makes the wait longer for those who seem likely to continue."""
MEDIAN_WAIT = 0.42
LATE_WAIT = {"people": 0.6, "synthetic": 0.5}
"""Limits on the median and third quartile of the wait, in seconds. The words of a pause are known after 0.3 s."""
LEAST_SILENCE = TurnSettings().least_seconds
CUT_BUDGETS, LATENCY_BUDGETS = (0.05, 0.1), (0.3, 0.6)
"""The operating points at which LiveKit's eot-bench compares endpointing: shares of turns cut off, and mean seconds."""
LEAST_SILENCES = (0.0, 0.25, 0.5, 0.8)
"""Silences before which no turn ends, tried at each operating point."""
NEVER_SECONDS = 2.4
"""The delay of a turn that never ended: the callers' recordings last this long after the voice."""
LONGEST_SILENCE = 1.6
"""The second regression uses only this many seconds of a pause; the callers' recordings end this long after the voice.
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The effect of a policy on an utterance: when it cuts the speaker off, whether a reply would have started playing
    before the speaker continued, and the delay after the end, in seconds.
    """

    speaker: str
    cuts: tuple[float, ...]
    heard: bool
    delay: float


def logistic(x: np.ndarray, y: np.ndarray, weights: np.ndarray, ridge: float = RIDGE) -> np.ndarray:
    """Fits a logistic regression by Newton's method. The first column is the constant, which is not regularised."""
    out = np.zeros(x.shape[1])
    hold = np.full(x.shape[1], ridge)
    hold[0] = 1e-6
    for _ in range(50):
        share = 1 / (1 + np.exp(-np.clip(x @ out, -30, 30)))
        slope = x.T @ (weights * (share - y)) + hold * out
        curve = (x * (weights * share * (1 - share))[:, None]).T @ x + np.diag(hold)
        step = np.linalg.solve(curve, slope)
        out = out - step
        if np.abs(step).max() < 1e-6:
            break
    return out


def fit(utterances: Sequence[Utterance]) -> dict[str, dict[str, float]]:
    """Fits the regressions, with a bound of 0."""
    counted = _counted(utterances)
    out = {
        "words": _fit_looks(counted, lambda look: _clues(look, look.odds)),
        "words alone": _fit_looks(counted, lambda look: _clues(look, None)),
        # For languages in which the app can't judge words.
        "sound alone": _fit_looks(
            counted, lambda look: None if look.sound is None else {"always": 1.0, "sound": sound_clue(look.sound)}
        ),
    }
    rows, ends, weights = [], [], []
    for pause, weight in counted:
        for look in pause.looks:
            if 0.05 <= look.silence <= LONGEST_SILENCE and (z := _finished(look, out)) is not None:
                s = look.silence
                rows.append([1.0, z, s, z * s, pause.slower * s])
                ends.append(pause.resumes is None)
                weights.append(weight)
    found = logistic(np.array(rows), np.array(ends, float), np.array(weights))
    share = float(np.average(np.array([pause.resumes is None for pause, _ in counted], float)))
    values = (*(round(float(value), 4) for value in found), 0.0, round(share, 3))
    out["silence"] = dict(zip(EndWeights.__dataclass_fields__, values, strict=True))
    return out


def _fit_looks(
    counted: Sequence[tuple[Pause, float]], clues_of: Callable[[Look], dict[str, float] | None]
) -> dict[str, float]:
    """Fits a regression to the clues of all looks that have any. The looks of a pause share its weight."""
    rows, ends, weights = [], [], []
    for pause, weight in counted:
        known = [found for look in pause.looks if (found := clues_of(look)) is not None]
        rows += known
        ends += [pause.resumes is None] * len(known)
        weights += [weight / max(1, len(known))] * len(known)
    names = list(rows[0])
    x = np.array([[row[n] for n in names] for row in rows])
    fitted = logistic(x, np.array(ends, float), np.array(weights))
    return {n: round(float(value), 4) for n, value in zip(names, fitted, strict=True)}


def _clues(look: Look, odds: WordOdds | None) -> dict[str, float] | None:
    return None if look.text is None or look.sound is None else clues(look.text, odds, look.sound)


def _counted(utterances: Iterable[Utterance]) -> list[tuple[Pause, float]]:
    """Returns all pauses except untold ones, with weights that balance people's and synthetic utterances."""
    utterances = list(utterances)
    sizes = Counter(bool(u.case.speaker) for u in utterances)
    return [
        (pause, len(utterances) / 2 / sizes[bool(u.case.speaker)])
        for u in utterances
        for pause in u.pauses
        if not pause.untold
    ]


def _finished(look: Look, weights: dict[str, dict[str, float]]) -> float | None:
    found = _clues(look, look.odds)
    if found is None:
        return None
    return float(np.clip(sum(weights["words"][name] * value for name, value in found.items()), -6.0, 6.0))


def with_policy(weights: dict[str, dict[str, float]], policy: Policy) -> EndWeights:
    """Returns the second regression's weights, with the policy's factor and bound."""
    silence, (steep, bound) = weights["silence"], policy
    return EndWeights(**{**silence, "finished": round(silence["finished"] * steep, 4), "bound": bound})


def follow(
    utterance: Utterance, weights: dict[str, dict[str, float]], policy: Policy, least: float = LEAST_SILENCE
) -> Outcome:
    """Applies a policy with these weights to an utterance. `least`: seconds of silence before which no turn ends."""
    ends = with_policy(weights, policy)
    cuts, heard, delay = [], False, 9.0
    for pause in utterance.pauses:
        taken = None
        for look in pause.looks:
            if look.silence + 1e-9 < least:
                continue
            z = _finished(look, weights)
            finished = ends.unknown if z is None else 1 / (1 + np.exp(-z))
            if look.silence + 1e-9 >= ends.wait(finished, slower=pause.slower):
                taken = pause.begin + look.silence
                break
        if taken is None:
            continue
        if pause.resumes is None or pause.untold:
            end = pause.begin if pause.untold else utterance.case.end
            delay = min(delay, taken - end)
        elif taken < pause.resumes:
            cuts.append(taken)
            heard = heard or taken + FIRST_SOUND_SECONDS < pause.resumes
    return Outcome(utterance.case.speaker, tuple(cuts), heard, delay)


def cross_validated(utterances: Sequence[Utterance], policies: Sequence[Policy]) -> dict[Policy, list[Outcome]]:
    """Returns the outcomes of each policy.

    Each utterance is judged by weights fitted without its speaker or, for synthetic speech, without its text.
    """
    groups = [u.case.speaker or u.case.text for u in utterances]
    order = {group: n for n, group in enumerate(dict.fromkeys(groups))}
    out: dict[Policy, list[Outcome]] = {policy: [] for policy in policies}
    for fold in range(FOLDS):
        mine = [order[group] % FOLDS == fold for group in groups]
        weights = fit([u for u, held in zip(utterances, mine, strict=True) if not held])
        for u, held in zip(utterances, mine, strict=True):
            if held:
                for policy in policies:
                    out[policy].append(follow(u, weights, policy))
    return out


def figures(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Returns the shares of turns that are cut off, and the quartiles of the delays in seconds."""
    delays = [outcome.delay for outcome in outcomes]
    return {
        "turns": len(outcomes),
        "cut": round(fmean(bool(o.cuts) for o in outcomes), 4),
        "heard": round(fmean(o.heard for o in outcomes), 4),
        **{f"p{q}": quantile(delays, q / 100) for q in (25, 50, 75)},
    }


def operating_points(utterances: Sequence[Utterance], weights: dict[str, dict[str, float]]) -> str:
    """Returns a Markdown table of the best policy at each of eot-bench's budgets.

    Unlike there, a delay includes the time of the recogniser and of the judges.
    """
    found = []
    for policy in itertools.product((1.0, 1.5, 2.0), (0.25 * step for step in range(-4, 25))):
        for least in LEAST_SILENCES:
            outcomes = [follow(one, weights, policy, least) for one in utterances]
            mean = fmean(min(one.delay, NEVER_SECONDS) for one in outcomes)
            found.append((fmean(bool(one.cuts) for one in outcomes), mean))
    rows = []
    for budget in LATENCY_BUDGETS:
        least_cut = min((cut for cut, mean in found if mean <= budget), default=None)
        rows.append((f"cut off at {budget:g} s", "–" if least_cut is None else f"{100 * least_cut:.1f} %"))
    for budget in CUT_BUDGETS:
        soonest = min((mean for cut, mean in found if cut <= budget), default=None)
        rows.append((f"mean delay at {100 * budget:.0f} % cut off", "–" if soonest is None else f"{soonest:.2f} s"))
    return "\n".join(markdown(("operating point", "best"), rows))


def report(outcomes: dict[Policy, list[Outcome]]) -> str:
    """Returns a Markdown table with one row per policy and kind of speaker."""
    rows = []
    for (steep, bound), found in outcomes.items():
        for who, some in _by_kind(found).items():
            f = figures(some)
            shares = (f"{100 * f[key]:.1f} %" for key in ("cut", "heard"))
            waits = (f"{f[key]:.2f}" for key in ("p25", "p50", "p75"))
            rows.append((f"{steep:.2f}, {bound:.1f}", who, f["turns"], *shares, *waits))
    head = ("factor, bound", "who", "turns", "cut off", "heard", "p25", "p50", "p75")
    return "\n".join(markdown(head, rows, text_columns=2))


def choose(outcomes: dict[Policy, list[Outcome]]) -> Policy:
    """Returns the policy that cuts off the fewest turns among those within the wait limits.

    Raises SystemExit if there is none.
    """
    fitting = [
        policy
        for policy, found in outcomes.items()
        if all(
            f["p50"] <= MEDIAN_WAIT and f["p75"] <= LATE_WAIT[who]
            for who, some in _by_kind(found).items()
            for f in [figures(some)]
        )
    ]

    def cut(policy: Policy) -> float:
        return sum(figures(some)["cut"] for some in _by_kind(outcomes[policy]).values())

    if not fitting:
        raise SystemExit("No policy is within the limits of the wait.")
    return min(fitting, key=cut)


def _by_kind(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    return grouped(outcomes, lambda o: "people" if o.speaker else "synthetic")


def gather(people_in: Path, cache: Path, progress: Progress) -> list[Utterance]:
    """Runs all cases that the weights are fitted to, and the held-out real speakers, through the models."""
    from app.research.benches.pauses import bench_cases, people, spoken_cases
    from app.research.benches.timed_parts import speech_models
    from app.tts.voices import make_voice

    with speech_models() as loaded, make_voice() as voice:
        if loaded.words is None:
            raise SystemExit("The language model is not installed, and its judgement is what is fitted.")
        models = replace(loaded, decoder=CachedDecoder(loaded.decoder, cache))
        cases = people(people_in, models.transcribe, models.voice_detector)
        for part in (0, 1):
            cases += bench_cases(models.transcribe, part).made
            cases += spoken_cases(saying(voice), models.transcribe, part).made
        pauses: dict[str, PauseLengths] = {}
        out = []
        for number, case in enumerate(cases, 1):
            progress(f"case {number} of {len(cases)}")
            known = pauses.setdefault(case.speaker, PauseLengths()) if case.speaker else PauseLengths()
            if case.kind in ("phrase", "plain"):
                case = replace(case, untold=case.pauses)  # the turn may be complete at any of them
            out.append(listen(case, known, models))
    return out


def main(argv: Sequence[str]) -> int:
    """Fits the weights, chooses the policy, prints the outcomes, and writes both unless `--check` is given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=Path, required=True, metavar="FOLDER", help="manifest.jsonl and recordings")
    parser.add_argument("--cache", type=Path, required=True, metavar="FOLDER", help="cache of recognised words")
    parser.add_argument("--check", action="store_true", help="write nothing")
    args = parser.parse_args(argv)
    everything = gather(args.people, args.cache, lambda text: print(text, file=sys.stderr))
    parts = grouped(everything, lambda u: bool(u.case.speaker) and speaker_part(u.case.speaker) == REPORTED)
    seen, unseen = parts[False], parts.get(True, [])
    outcomes = cross_validated(seen, POLICIES)
    weights, policy = fit(seen), choose(outcomes)
    final = {policy: [follow(u, weights, policy) for u in unseen]}
    weights["silence"] = asdict(with_policy(weights, policy))
    print("Cross-validated by speaker:", report({policy: outcomes[policy]}), sep="\n\n")
    print("\nPeople that nothing was fitted to:", report(final), operating_points(unseen, weights), sep="\n\n")
    if not args.check:
        write_json(resource("turn_ends.json"), weights, indent=1)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
