"""French: the app's phrases, and how signs, units and money are read."""

from __future__ import annotations

from app.conversation.languages.form import NUMBER as N
from app.conversation.languages.form import Language

LANGUAGE = Language(
    code="fr",
    name="French",
    persona="Tu es un assistant vocal aimable et tu réponds en français.",
    small_persona="Tu réponds à des questions orales, brièvement et correctement, en mots simples et en français.",
    answer_in="Réponds en français.",
    spoken=(
        "Ta réponse est lue à voix haute, alors écris comme on parle : des mots simples dans des phrases "
        "entières, sans listes, sans titres, sans symboles, sans emojis, sans code, sans liens. Écris les "
        "nombres, les unités et les formules comme on les dit. La question a été entendue par une machine et peut "
        "contenir des mots mal compris ou s'interrompre : réponds à ce qui était voulu. Réponds d'abord, explique "
        "ensuite."
    ),
    lengths={
        "short": "Dis une ou deux phrases courtes.",
        "medium": "Dis une à trois phrases courtes.",
        "long": "Dis tout ce que la question demande, au plus une douzaine de phrases.",
    },
    openings=("Laisse-moi réfléchir.", "Un instant.", "Voyons.", "Hmm, voyons voir.", "Une seconde.", "Un moment."),
    bridges=("Ou plutôt,", "Non, attends :", "Je rectifie :"),
    backchannels=frozenset({
        "mhm", "hm", "hmm", "ah", "oh", "oui", "ouais", "ok", "okay", "d'accord", "bien", "bon", "voilà", "exact",
        "je vois", "bien sûr", "euh", "super", "vraiment", "c'est vrai",
    }),
    link="un lien",
    readings=(
        (r"\b[nN]°\s?", "numéro "),
        (rf"€\s?{N}", r"\1 euros"), (rf"{N}\s?€", r"\1 euros"), (rf"\$\s?{N}", r"\1 dollars"),
        (rf"£\s?{N}", r"\1 livres"), (rf"{N}\s?%", r"\1 pour cent"), (r"\s?°\s?C\b", " degrés Celsius"),
        (r"\s?°", " degrés"), (r"(?<=\d)\s?km/h\b", " kilomètres par heure"), (r"(?<=\d)\s?km²", " kilomètres carrés"),
        (r"(?<=\d)\s?m²", " mètres carrés"), (r"(?<=\d)\s?km\b", " kilomètres"), (r"(?<=\d)\s?cm\b", " centimètres"),
        (r"(?<=\d)\s?kg\b", " kilos"),
        (r"(?<=\w)\s*\^\s*2\b|²", " au carré"), (r"(?<=\w)\s*\^\s*3\b|³", " au cube"),
        (r"(?<=[\w)])\s*\^\s*(?=[\w(−-])", " puissance "),
        (r"(?<=\d)\s*[*×·]\s*(?=\d)", " fois "), (r"(?<=\d)\s*÷\s*(?=\d)|(?<=\d)\s/\s(?=\d)", " divisé par "),
        (r"(?<=\d)\s+[-−]\s+(?=\d)", " moins "), (r"(?<=\w)\s*\+\s*(?=\w)", " plus "),
        (r"(?<=\w)\s*=\s*(?=\w)", " égale "),
        (r"\s*≈\s*", " environ "), (r"(?<=\w)\s*&\s*(?=\w)", " et "), (r"\bp\.\s?ex\.", "par exemple"),
    ),
)  # fmt: skip
