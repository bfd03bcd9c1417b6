"""What a voice says for written sentences, in tables that were made without the grammar: `readings/LANGUAGE.tsv`. A
line has the kind of the case, with a star if a language model wrote the sentence, the sentence, and up to four spoken
forms that are right. Upper and lower case, quotation marks, the full stop at the end and hyphens don't matter."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.conversation.speaking.clauses import split_clauses, spoken, spoken_form

FOLDER = Path(__file__).with_name("readings")
CODES = {"english": "en", "german": "de", "spanish": "es", "french": "fr", "italian": "it"}
WRONG = {
    "3. Let the dough rest for an hour.",  # the number of a list's item is not read
    "Die Schüler/innen haben heute frei.",
    "Dante Alighieri (1265–1321) scrisse la Divina Commedia.",  # Italian ranges need "da"
    "Fai riposare l'impasto per 10-15 minuti.",
    "Una cena in trattoria costa in genere **20–30 €** a persona.",
    "Leggi le pagine 5–9.",
}
"""The sentences that are read wrongly."""


def cases(language: str) -> Iterator[tuple[str, str, list[str]]]:
    for line in (FOLDER / f"{language}.tsv").read_text("utf-8").splitlines():
        kind, written, *forms = line.split("\t")
        yield kind.rstrip("*"), written, forms


def normalised(text: str) -> str:
    text = text.lower().replace("’", "'")
    text = re.sub("[“”„«»]", '"', re.sub("[\u00a0\u202f]", " ", re.sub("[–‑]", "-", text)))
    text = re.sub(r"\s+", " ", text).strip().rstrip(".!?: ")
    text = re.sub(r"(?<=\w)-(?=\w)", " ", re.sub(r'\s*"\s*', '"', text))
    return re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)


def digits(text: str) -> str:
    """The same for telephone numbers and addresses, whose digits may be grouped in any way."""
    return re.sub(r"(?<=\d)[\s,.\-()]+(?=\d)", "", normalised(text))


@pytest.mark.parametrize("language", CODES)
def test_sentences_are_read_as_a_person_would(language: str) -> None:
    wrong = []
    for kind, written, forms in cases(language):
        alike = digits if kind in ("phone", "ip") else normalised
        said = spoken(written, CODES[language])
        if all(alike(said) != alike(form) for form in forms) and written not in WRONG:
            wrong.append(f"{written} -> {said}, not: {forms[0]}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("language", CODES)
def test_each_spoken_letter_knows_how_much_of_the_sentence_it_has_reached(language: str) -> None:
    """So that a cut in mid-answer keeps what was heard, to the letter."""
    for _, written, _ in cases(language):
        said, reached = spoken_form(written, CODES[language], True)
        assert len(said) == len(reached) and list(reached) == sorted(reached)
        assert not reached or reached[-1] <= len(written)


@pytest.mark.parametrize("language", CODES)
def test_what_a_voice_was_given_stays_as_the_answer_grows(language: str) -> None:
    """A sign may get its meaning from words to come: a clause with it isn't closed before them."""
    code, written = CODES[language], [case[1] for case in cases(language)]
    for first, second in zip(written, [*written[1:], written[0]], strict=True):
        words, closed = f"{first} {second}".split(" "), list[str]()
        for count in range(1, len(words) + 1):
            whole = count == len(words)
            said = spoken(" ".join(words[:count]), code, whole=whole)
            now = split_clauses(said, complete=whole, code=code)
            assert now[: len(closed)] == closed
            closed = now
