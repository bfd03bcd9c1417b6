"""Fits when a turn is over, and writes the weights to `resources/turn_ends.json`.

`python -m app.training.turn_ends --people FOLDER [--recordings FOLDER] --cache FOLDER [--check]`

Two logistic regressions with a ridge. The first gives the probability that a turn is finished from its words and its
sound (`app.stt.text_endpointing.clues`), with the language model and without it, and from its sound alone. The second
adds the silence so far and the speaker's own pauses (`app.conversation.endpointing`). Both are fitted to the pauses of
real callers (two of the three parts in `app.evaluation.people`) and of synthetic questions (the first two of the
three in `app.evaluation.pauses`) together, each kind weighing as much as the other. The bound, and a factor on the
first, cut off fewest while in cross-validation by speaker the waits stay within `MEDIAN_WAIT` and `LATE_WAIT`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from app.conversation.endpointing import EndWeights, PauseLengths
from app.evaluation.listening import FIRST_SOUND_SECONDS
from app.evaluation.people import part_of
from app.platform.resources import resource
from app.stt.text_endpointing import clues, sound_clue
from app.training.pause_samples import CachedDecoder, Look, Pause, Utterance, listen

Policy = tuple[float, float]

RIDGE = 1.0
FOLDS = 10
POLICIES = tuple((steep, round(0.1 * step, 1)) for steep in (1.0, 1.25, 1.5, 1.75, 2.0) for step in range(5, 31))
"""Factors on what the turn seems, against the silence, and bounds. A factor above 1 cuts off fewer at the same median
wait, and lets those wait longer who seem to go on."""
MEDIAN_WAIT = {"people": 0.36, "synthetic": 0.3}
LATE_WAIT = {"people": 0.76, "synthetic": 0.76}
"""Seconds at the median and the third quartile: a little below what is promised of turns that nothing was fitted to."""
HELD_OUT = 2
"""The part of the people that nothing is fitted to."""
LONGEST_SILENCE = 1.6
"""Seconds of a pause that the second regression looks at. The callers' recordings end that long after the voice."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a policy makes of an utterance: when it cut the speaker off, whether an answer would have sounded before the
    speaker went on, and how late it noticed the end."""

    speaker: str
    cuts: tuple[float, ...]
    heard: bool
    delay: float


def logistic(x: np.ndarray, y: np.ndarray, weights: np.ndarray, ridge: float = RIDGE) -> np.ndarray:
    """Weights of a logistic regression by Newton's method; the first column is the constant, which no ridge holds."""
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
    """Both regressions; the bound is 0."""
    out = {}
    for name, alone in (("words", False), ("words alone", True)):
        rows, ends, weights = [], [], []
        for pause, weight in _counted(utterances):
            looks = [look for look in pause.looks if look.text is not None and look.sound is not None]
            for look in looks:
                rows.append(clues(look.text, None if alone else look.odds, look.sound))
                ends.append(pause.resumes is None)
                weights.append(weight / len(looks))
        names = list(rows[0])
        found = logistic(np.array([[row[n] for n in names] for row in rows]), np.array(ends, float), np.array(weights))
        out[name] = {n: round(float(value), 4) for n, value in zip(names, found, strict=True)}
    out["sound alone"] = _fit_sound(utterances)
    rows, ends, weights = [], [], []
    for pause, weight in _counted(utterances):
        for look in pause.looks:
            if 0.05 <= look.silence <= LONGEST_SILENCE and (z := _finished(look, out)) is not None:
                s = look.silence
                rows.append([1.0, z, s, z * s, pause.slower * s])
                ends.append(pause.resumes is None)
                weights.append(weight)
    found = logistic(np.array(rows), np.array(ends, float), np.array(weights))
    share = float(np.average(np.array([p.resumes is None for p, _ in _counted(utterances)], float)))
    values = (*(round(float(value), 4) for value in found), 0.0, round(share, 3))
    out["silence"] = dict(zip(EndWeights.__dataclass_fields__, values, strict=True))
    return out


def _fit_sound(utterances: Sequence[Utterance]) -> dict[str, float]:
    """The regression on the judge of the sound alone, for languages whose words the app can't judge."""
    rows, ends, weights = [], [], []
    for pause, weight in _counted(utterances):
        looks = [look for look in pause.looks if look.sound is not None]
        for look in looks:
            rows.append([1.0, sound_clue(look.sound)])
            ends.append(pause.resumes is None)
            weights.append(weight / len(looks))
    found = logistic(np.array(rows), np.array(ends, float), np.array(weights))
    return {n: round(float(value), 4) for n, value in zip(("always", "sound"), found, strict=True)}


def _counted(utterances: Iterable[Utterance]) -> list[tuple[Pause, float]]:
    """The pauses that count, each with its weight: people and synthetic speech weigh alike."""
    utterances = list(utterances)
    people = sum(bool(u.case.speaker) for u in utterances)
    sizes = {True: people, False: len(utterances) - people}
    return [
        (pause, len(utterances) / 2 / sizes[bool(u.case.speaker)])
        for u in utterances
        for pause in u.pauses
        if not pause.untold
    ]


def _finished(look: Look, weights: dict[str, dict[str, float]]) -> float | None:
    if look.text is None or look.sound is None:
        return None
    total = sum(weights["words"][name] * value for name, value in clues(look.text, look.odds, look.sound).items())
    return max(-6.0, min(6.0, total))


def settled(weights: dict[str, dict[str, float]], policy: Policy) -> EndWeights:
    """The second regression with a policy's factor and bound."""
    silence, (steep, bound) = weights["silence"], policy
    return EndWeights(**{**silence, "finished": round(silence["finished"] * steep, 4), "bound": bound})


def follow(utterance: Utterance, weights: dict[str, dict[str, float]], policy: Policy) -> Outcome:
    """What the policy with these weights does with an utterance."""
    ends = settled(weights, policy)
    cuts, heard, delay = [], False, 9.0
    for pause in utterance.pauses:
        taken = None
        for look in pause.looks:
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
    """The outcomes of each policy, each utterance judged by weights that were fitted without its speaker. Synthetic
    speech is split by what is said."""
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
    """Shares of turns cut off, and the delays' quartiles in seconds."""
    delays = [outcome.delay for outcome in outcomes]
    low, middle, high = (float(np.quantile(delays, q)) for q in (0.25, 0.5, 0.75))
    return {
        "turns": len(outcomes),
        "cut": round(sum(bool(o.cuts) for o in outcomes) / max(1, len(outcomes)), 4),
        "heard": round(sum(o.heard for o in outcomes) / max(1, len(outcomes)), 4),
        "p25": round(low, 3),
        "p50": round(middle, 3),
        "p75": round(high, 3),
    }


def report(outcomes: dict[Policy, list[Outcome]]) -> str:
    """For people: a Markdown table, two lines for each policy."""
    lines = ["| factor, bound | who | turns | cut off | heard | p25 | p50 | p75 |", "| ---: | --- |" + " ---: |" * 6]
    for (steep, bound), found in outcomes.items():
        for who, some in _by_kind(found).items():
            f = figures(some)
            shares = "".join(f" {100 * f[key]:.1f} % |" for key in ("cut", "heard"))
            waits = "".join(f" {f[key]:.2f} |" for key in ("p25", "p50", "p75"))
            lines.append(f"| {steep:.2f}, {bound:.1f} | {who} | {f['turns']} |{shares}{waits}")
    return "\n".join(lines)


def choose(outcomes: dict[Policy, list[Outcome]]) -> Policy:
    """The policy that cuts off fewest of those under which nobody waits longer than is aimed at."""
    fitting = [
        policy
        for policy, found in outcomes.items()
        if all(
            f["p50"] <= MEDIAN_WAIT[who] and f["p75"] <= LATE_WAIT[who]
            for who, some in _by_kind(found).items()
            for f in [figures(some)]
        )
    ]

    def cut(policy: Policy) -> float:
        return sum(figures(some)["cut"] for some in _by_kind(outcomes[policy]).values())

    return min(fitting or outcomes, key=cut)


def _by_kind(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    kinds = {"people": [o for o in outcomes if o.speaker], "synthetic": [o for o in outcomes if not o.speaker]}
    return {who: some for who, some in kinds.items() if some}


def gather(people_in: Path, recordings: Path | None, cache: Path, progress: Callable[[str], None]) -> list[Utterance]:
    """Listens to everything that the weights are fitted to, and to the part of the people that they are not."""
    from app.evaluation.pauses import bench_cases, recorded_cases, spoken_cases
    from app.evaluation.people import people
    from app.evaluation.speech_models import speech_models
    from app.tts.voices import make_voice

    with speech_models() as loaded:
        if loaded.words is None:
            raise SystemExit("The language model is not installed, and its judgement is what is fitted.")
        models = replace(loaded, decoder=CachedDecoder(loaded.decoder, cache))
        cases = people(people_in, models.transcribe, models.voice_detector)
        for part in (0, 1):
            cases += bench_cases(models.transcribe, part)[0]
            if recordings is not None:
                cases += recorded_cases(recordings, models.transcribe, part)[0]
            with make_voice() as speaker:
                cases += spoken_cases(
                    lambda text, say=speaker: say.synthesize(text).result().samples, models.transcribe, part
                )[0]
        pauses: dict[str, PauseLengths] = {}
        out = []
        for number, case in enumerate(cases, 1):
            progress(f"case {number} of {len(cases)}")
            known = pauses.setdefault(case.speaker, PauseLengths()) if case.speaker else PauseLengths()
            if case.kind in ("phrase", "plain"):
                case = replace(case, untold=case.pauses)  # all may have been said
            out.append(listen(case, known, models))
    return out


def main(argv: Sequence[str]) -> int:
    """Fits, chooses the bound, writes the weights and prints what they do."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=Path, required=True, metavar="FOLDER", help="manifest.jsonl and recordings")
    parser.add_argument("--recordings", type=Path, metavar="FOLDER", help="MT-Bench, spoken: VOICE/QUESTION_TURN.flac")
    parser.add_argument("--cache", type=Path, required=True, metavar="FOLDER", help="where decoded sound is kept")
    parser.add_argument("--check", action="store_true", help="write nothing")
    args = parser.parse_args(argv)
    everything = gather(args.people, args.recordings, args.cache, lambda text: print(text, file=sys.stderr))
    held_out = [bool(u.case.speaker) and part_of(u.case.speaker) == HELD_OUT for u in everything]
    seen = [u for u, held in zip(everything, held_out, strict=True) if not held]
    unseen = [u for u, held in zip(everything, held_out, strict=True) if held]
    outcomes = cross_validated(seen, POLICIES)
    weights, policy = fit(seen), choose(outcomes)
    final = {policy: [follow(u, weights, policy) for u in unseen]}
    weights["silence"] = asdict(settled(weights, policy))
    print("Cross-validated by speaker:", report({policy: outcomes[policy]}), sep="\n\n")
    print("\nPeople that nothing was fitted to:", report(final), sep="\n\n")
    if not args.check:
        text = json.dumps(weights, indent=1)
        resource("turn_ends.json").write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
