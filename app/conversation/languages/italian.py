"""Italian: the app's phrases, and how signs, units and money are read."""

from __future__ import annotations

from app.conversation.languages.form import NUMBER as N
from app.conversation.languages.form import Language

LANGUAGE = Language(
    code="it",
    name="Italian",
    persona="Sei un assistente vocale gentile e rispondi in italiano.",
    small_persona="Rispondi a domande parlate in modo breve e corretto, con parole semplici e in italiano.",
    answer_in="Rispondi in italiano.",
    spoken=(
        "La tua risposta viene letta ad alta voce, quindi scrivi come si parla: parole semplici in frasi intere, "
        "niente elenchi, niente titoli, niente simboli, niente emoji, niente codice, niente link. Scrivi numeri, "
        "unità e formule come si dicono. La domanda è stata sentita da una macchina e può contenere parole capite "
        "male o interrompersi: rispondi a ciò che si intendeva. Prima rispondi, poi spiega."
    ),
    lengths={
        "short": "Di' una o due frasi brevi.",
        "medium": "Di' da una a tre frasi brevi.",
        "long": "Di' tutto ciò che serve alla domanda, al massimo una dozzina di frasi.",
    },
    openings=("Fammi pensare.", "Un momento.", "Vediamo.", "Mmm, vediamo.", "Un attimo.", "Un secondo."),
    bridges=("O meglio,", "No, aspetta:", "Mi correggo:"),
    backchannels=frozenset({
        "mhm", "hm", "hmm", "ah", "oh", "sì", "si", "ok", "okay", "va bene", "bene", "certo", "esatto", "giusto",
        "capisco", "eh", "davvero", "d'accordo", "bello",
    }),
    link="un link",
    readings=(
        (r"\b[nN]\.?°\s?", "numero "), (r"\b1°(?=\s+[a-z])", "primo"),
        (rf"€\s?{N}", r"\1 euro"), (rf"{N}\s?€", r"\1 euro"), (rf"\$\s?{N}", r"\1 dollari"),
        (rf"£\s?{N}", r"\1 sterline"), (rf"{N}\s?%", r"\1 per cento"), (r"\s?°\s?C\b", " gradi Celsius"),
        (r"\s?°", " gradi"), (r"(?<=\d)\s?km/h\b", " chilometri all'ora"), (r"(?<=\d)\s?km²", " chilometri quadrati"),
        (r"(?<=\d)\s?m²", " metri quadrati"), (r"(?<=\d)\s?km\b", " chilometri"), (r"(?<=\d)\s?cm\b", " centimetri"),
        (r"(?<=\d)\s?kg\b", " chili"),
        (r"(?<=\w)\s*\^\s*2\b|²", " al quadrato"), (r"(?<=\w)\s*\^\s*3\b|³", " al cubo"),
        (r"(?<=[\w)])\s*\^\s*(?=[\w(−-])", " alla "),
        (r"(?<=\d)\s*[*×·]\s*(?=\d)", " per "), (r"(?<=\d)\s*÷\s*(?=\d)|(?<=\d)\s/\s(?=\d)", " diviso "),
        (r"(?<=\d)\s+[-−]\s+(?=\d)", " meno "), (r"(?<=\w)\s*\+\s*(?=\w)", " più "),
        (r"(?<=\w)\s*=\s*(?=\w)", " è uguale a "),
        (r"\s*≈\s*", " è circa "), (r"(?<=\w)\s*&\s*(?=\w)", " e "), (r"\bad\s?es\.", "ad esempio"),
    ),
)  # fmt: skip
