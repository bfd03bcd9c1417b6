"""The words by which Italian is read aloud: signs, units, money, fractions, abbreviations."""

from __future__ import annotations

import re

from app.conversation.reading import Reading

_ORDINALS = (
    "zero primo secondo terzo quarto quinto sesto settimo ottavo nono decimo undicesimo dodicesimo tredicesimo "
    "quattordicesimo quindicesimo sedicesimo diciassettesimo diciottesimo diciannovesimo ventesimo ventunesimo "
    "ventiduesimo ventitreesimo"
).split()
_WOMEN = "Elisabetta|Caterina|Margherita|Maria|Cleopatra|Giovanna"
_RULERS = (
    f"{_WOMEN}|Enrico|Luigi|Carlo|Filippo|Ferdinando|Vittorio Emanuele|Umberto|Federico|Guglielmo|Napoleone|Giorgio|"
    "Edoardo|Riccardo|Giovanni Paolo|Giovanni|Paolo|Pio|Benedetto|Gregorio|Leone|Innocenzo|Clemente|Urbano|Nicola|"
    "Alessandro|Pietro|Ivan|Ramses|Ottone|Cosimo|Francesco|Bonifacio|Sisto|Giulio"
)


def _numbered(value: int, found: str) -> str:
    """A number behind a name, and a century's, are ordinals."""
    if not 0 < value < len(_ORDINALS):
        return str(value)
    ordinal = _ORDINALS[value]
    if re.match(rf"(?:{_WOMEN})", found):
        return f"{ordinal[:-1]}a"
    return str(value) if re.match(r"(?:capitolo|tipo|parte|volume|atto)", found, re.I) else ordinal


READING = Reading(
    number=r"\d+(?:[.\u202f\u00a0]\d{3})*(?:,\d+)?",
    to="a",
    and_="e",
    or_="o",
    per="al",
    between="e|o",
    minus="meno",
    plus="più",
    plus_minus="più o meno",
    times="per",
    times_more="volte",
    divided="diviso",
    equals="uguale a",
    about="circa",
    is_about="circa",
    maps_to="a",
    number_word="numero",
    paragraph="paragrafo",
    percent="per cento",
    permille="per mille",
    degrees="gradi",
    celsius="gradi Celsius",
    fahrenheit="gradi Fahrenheit",
    pi="pi greco",
    root="radice di",
    infinity="infinito",
    approaches="tende a",
    integral="l'integrale",
    sum="la somma",
    from_to="da {} a {} di",
    scales={
        **dict.fromkeys(("mln", "M", "mil"), ("milione", "milioni")),
        **dict.fromkeys(("mld", "B"), ("miliardo", "miliardi")),
        **dict.fromkeys(("k", "K"), ("mila", "mila")),
    },
    scale_words=("mila", "milione", "milioni", "miliardo", "miliardi"),
    currencies={
        "$": ("dollaro", "dollari", "di dollari"),
        "€": ("euro", "euro", "di euro"),
        "£": ("sterlina", "sterline", "di sterline"),
        "¥": ("yen", "yen", "di yen"),
        "₹": ("rupia", "rupie", "di rupie"),
        "EUR": ("euro", "euro", "di euro"),
        "USD": ("dollaro", "dollari", "di dollari"),
    },
    unlinked=frozenset({"mila"}),
    units={
        "km": ("chilometro", "chilometri"),
        "m": ("metro", "metri"),
        "cm": ("centimetro", "centimetri"),
        "mm": ("millimetro", "millimetri"),
        "µm": ("micrometro", "micrometri"),
        "nm": ("nanometro", "nanometri"),
        "km/h": ("chilometro all'ora", "chilometri all'ora"),
        "m/s": ("metro al secondo", "metri al secondo"),
        "kg": ("chilogrammo", "chilogrammi"),
        "g": ("grammo", "grammi"),
        "mg": ("milligrammo", "milligrammi"),
        "µg": ("microgrammo", "microgrammi"),
        "t": ("tonnellata", "tonnellate"),
        "l": ("litro", "litri"),
        "L": ("litro", "litri"),
        "ml": ("millilitro", "millilitri"),
        "mL": ("millilitro", "millilitri"),
        "cl": ("centilitro", "centilitri"),
        "dl": ("decilitro", "decilitri"),
        "dL": ("decilitro", "decilitri"),
        "kB": ("kilobyte", "kilobyte"),
        "KB": ("kilobyte", "kilobyte"),
        "MB": ("megabyte", "megabyte"),
        "GB": ("gigabyte", "gigabyte"),
        "TB": ("terabyte", "terabyte"),
        "Mbps": ("megabit al secondo", "megabit al secondo"),
        "Mbit/s": ("megabit al secondo", "megabit al secondo"),
        "Hz": ("hertz", "hertz"),
        "kHz": ("chilohertz", "chilohertz"),
        "MHz": ("megahertz", "megahertz"),
        "GHz": ("gigahertz", "gigahertz"),
        "W": ("watt", "watt"),
        "kW": ("chilowatt", "chilowatt"),
        "MW": ("megawatt", "megawatt"),
        "GW": ("gigawatt", "gigawatt"),
        "kWh": ("chilowattora", "chilowattora"),
        "V": ("volt", "volt"),
        "mAh": ("milliampereora", "milliampereora"),
        "dB": ("decibel", "decibel"),
        "Pa": ("pascal", "pascal"),
        "hPa": ("ettopascal", "ettopascal"),
        "kcal": ("chilocaloria", "chilocalorie"),
        "kJ": ("chilojoule", "chilojoule"),
        "ha": ("ettaro", "ettari"),
        "s": ("secondo", "secondi"),
        "ms": ("millisecondo", "millisecondi"),
        "min": ("minuto", "minuti"),
        "h": ("ora", "ore"),
        "ppm": ("parte per milione", "parti per milione"),
        "mol": ("mole", "moli"),
    },
    per_what=("secondo", "minuto", "ora", "giorno", "notte", "settimana", "mese", "anno", "persona", "utente"),
    square="{} quadrati",
    cube="{} cubi",
    fractions={
        "1/2": "un mezzo",
        "1/3": "un terzo",
        "2/3": "due terzi",
        "1/4": "un quarto",
        "3/4": "tre quarti",
        "1/5": "un quinto",
        "2/5": "due quinti",
        "1/8": "un ottavo",
        "3/8": "tre ottavi",
        "1/10": "un decimo",
    },
    over="{} su {}",
    out_of="su",
    in_="su",
    ratings="punti|punto|stelle",
    comparisons={
        "<=": ("è minore o uguale a", "minore o uguale a"),
        ">=": ("è maggiore o uguale a", "maggiore o uguale a"),
        "≤": ("è minore o uguale a", "minore o uguale a"),
        "≥": ("è maggiore o uguale a", "maggiore o uguale a"),
        "≠": ("è diverso da", "diverso da"),
        "<": ("è minore di", "minore di"),
        ">": ("è maggiore di", "maggiore di"),
    },
    powers={"2": "al quadrato", "3": "al cubo"},
    power="alla",
    months=tuple(
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre".split()
    ),
    date="{day} {month} {year}",
    short_date="{day} {month}",
    weekdays=(
        ("lunedì", "lun"),
        ("martedì", "mar"),
        ("mercoledì", "mer"),
        ("giovedì", "gio"),
        ("venerdì", "ven"),
        ("sabato", "sab"),
        ("domenica", "dom"),
    ),
    slashes=(
        (r"\b24/7\b", "24 ore su 24, 7 giorni su 7"),
        (r"\be/o\b", "e o"),
        (r"(?<![\d/])1/2(?= (?:cucchiaino|cucchiaio|litro|limone|bicchiere|chilo|cetriolo)\b)", "mezzo"),
        (r"(?<![\d/])1/2(?= (?:tazza|cipolla|ora|bottiglia|bustina)\b)", "mezza"),
        (r"(?<=\d\.\d)/(\d{1,2})\b", r" barra \1"),
    ),
    scores=((r"\b((?:vinto|perso|battuto|per|vince|pareggio|pareggiato) )(\d{1,2})[-–](\d{1,2})\b", r"\1\2 a \3"),),
    times_of_day=(
        (r"\b((?:ore|alle|dalle|le) )(\d{1,2})\.0?(\d{1,2})\b", r"\1\2 e \3"),
        (r"\b(\d{1,2}:\d\d)\s?[-–]\s?(\d{1,2}:\d\d)\b", r"\1 a \2"),
    ),
    abbreviations=(
        (r"ad es\.", "ad esempio"),
        (r"ecc\.", "eccetera"),
        (r"dott\.(?= [A-Z])", "dottor"),
        (r"dott\.ssa(?= [A-Z])", "dottoressa"),
        (r"[sS]ig\.(?= [A-Z])", "signor"),
        (r"[sS]ig\.ra(?= [A-Z])", "signora"),
        (r"[pP]rof\.(?= [A-Z])", "professor"),
        (r"[nN]\.?°?(?= ?\d)", "numero"),
        (r"pagg?\.(?= ?\d)", "pagina"),
        (r"p\.(?= ?\d)", "pagina"),
        (r"cap\.(?= ?\d)", "capitolo"),
        (r"art\.(?= ?\d)", "articolo"),
        (r"a\. ?C\.", "avanti Cristo"),
        (r"d\. ?C\.", "dopo Cristo"),
        (r"ca\.", "circa"),
        (r"max\.", "massimo"),
        (r"min\.(?= \d)", "minimo"),
        (r"tel\.", "telefono"),
        (r"v(?=\d+\.\d)", "versione "),
    ),
    sentence_ends=frozenset({"eccetera", "avanti Cristo", "dopo Cristo"}),
    own=(
        (r"(?<!\w)\.NET\b", "punto NET"),
        (r"\b([CF])#(?!\w)", r"\1 sharp"),
        (r"\bC\+\+", "C più più"),
        (r"\bNode\.js\b", "Node JS"),
        (r"\b([\w.+-]+)@([\w-]+)\.([a-z]{2,})\b", r"\1 chiocciola \2 punto \3"),
        (r"(?<=\d)\.(\d)(?=[MBk]\b)", r",\1"),
        (r"\b1°(?=\s+[a-z])", "primo"),
        (r"\b2°(?=\s+[a-z])", "secondo"),
        (r"\b3°(?=\s+[a-z])", "terzo"),
        (r"\b4°(?=\s+[a-z])", "quarto"),
        (r"\b5°(?=\s+[a-z])", "quinto"),
    ),
    numbered=_numbered,
    numerals=(
        (rf"\b((?:{_RULERS}) )NUMERAL", "\\1\0"),
        (r"\bNUMERAL (?P<s>secolo)", "\0 \\g<s>"),
        (r"\b((?:secolo|Secolo|capitolo|tipo|parte|volume|atto|Guerra Mondiale|guerra mondiale) )NUMERAL", "\\1\0"),
    ),
    actions="ride|risate|sospira|tossisce|sussurra|sorride|pausa|annuisce|canta|piange|sbadiglia",
    sounds="musica|applausi|risate|pausa|silenzio|incomprensibile",
    citation_needed="senza fonte|citazione necessaria|fonte",
    intervals="intervallo|lista|indice|punto|insieme",
    greek={"pi": "pi greco"},
)
