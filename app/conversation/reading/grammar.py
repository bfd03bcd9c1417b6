"""The grammar by which a written answer is read aloud: what signs, units, money, formulas and abbreviations become.

The grammar is the same for all languages; its words are those of `Reading`. Digits stay: `app.tts.numerals` respells
those that a voice misreads. A rule is a regular expression and a replacement, which are applied one after the other to
the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache

from app.conversation.reading import Reading, reading

Replacement = str | Callable[[re.Match[str]], str]
Rule = tuple[frozenset[str], re.Pattern[str], Replacement]
"""Characters, a pattern and a replacement. In a text that has none of the characters, the rule finds nothing, so it
needn't be tried. It is tried in every text if there are no characters.
"""

_DIGIT = "0123456789"


@cache
def later_rules(code: str) -> tuple[Rule, ...]:
    """Returns the rules for text without Markdown, after those of `app.conversation.reading.markup`."""
    words = reading(code)
    return (
        *compiled("", ((pattern, new, 0) for pattern, new in words.own)),
        *compiled("♭♯₀₁₂₃₄₅₆₇₈₉", _names()),
        *compiled("", _abbreviations(words)),
        *compiled(_DIGIT, _dates(words)),
        *compiled(_DIGIT + "".join(sign for sign in words.currencies if not sign.isalpha()), _money(words)),
        *compiled(f"{_DIGIT}/*:_{''.join(_VULGAR)}", _fractions(words)),
        *compiled(f"{_DIGIT}–", _ranges(words)),
        *compiled("", _weekdays(words)),
        *compiled(_DIGIT, _powers_of_numbers(words)),
        *compiled(f"{_DIGIT}°%‰", _measures(words)),
        *compiled("", _units_alone(words)),
        *compiled("^⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", _powers(words)),
        *compiled("<>=≤≥≠!→⇒-−±~≈#×·*÷/+√π&§:", _signs(words)),
        *compiled("IVXL", _numerals(words)),
    )


Rules = Iterable[tuple[str, Replacement, int]]


def compiled(needed: str, rules: Rules) -> Iterator[Rule]:
    """Compiles rules that find nothing in a text without any of the characters in `needed`."""
    for pattern, new, flags in rules:
        yield frozenset(needed), re.compile(pattern, flags), new


def _any(names: Sequence[str] | Mapping[str, object]) -> str:
    """Returns a pattern for any of these texts, the longest first."""
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


GREEK = tuple(
    (
        "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau phi chi psi omega"
    ).split()
)


# -- names


_DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "01234567890123456789-+")


def _names() -> Rules:
    yield r"\b([A-G])♭", r"\1 flat", 0
    yield r"\b([A-G])♯", r"\1 sharp", 0
    yield r"(?<=[A-Za-z)])[₀₁₂₃₄₅₆₇₈₉]+", lambda m: m[0].translate(_DIGITS), 0


# -- abbreviations


def _abbreviations(words: Reading) -> Rules:
    for pattern, said in words.abbreviations:
        # At the end of a sentence, the point is that of the sentence, too.
        ends = r"(?P<end>\s*(?:$|\n|[\"”»)]|(?=\s+[A-ZÄÖÜÉ][a-zà-ÿ])))?" if pattern.endswith(r"\.") else "(?P<end>)?"
        keeps = pattern.endswith(r"\.") and said in words.sentence_ends

        def new(m: re.Match[str], said: str = said, keeps: bool = keeps) -> str:
            return m.expand(said) + (f".{m['end']}" if keeps and m["end"] is not None else "")

        yield (rf"(?<![\w.])(?:{pattern}){ends if keeps else '(?P<end>)?'}", new, 0)


# -- dates and times


def _dates(words: Reading) -> Rules:
    months = words.months

    def named(day: str, month: str, year: str) -> str:
        return words.date.format(day=int(day), month=months[int(month) - 1], year=year)

    def full(m: re.Match[str]) -> str:
        first, second, year = m["a"], m["b"], m["y"]
        day, month = (second, first) if words.month_first else (first, second)
        if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
            return m[0]
        year = year if len(year) == 4 else ("20" if int(year) < 50 else "19") + year
        return named(day, month, year)

    yield r"(?<![\d/.])(?P<a>\d{1,2})/(?P<b>\d{1,2})/(?P<y>\d{4}|\d\d)(?![\d/])", full, 0
    if not words.month_first:
        yield r"(?<![\d/.])(?P<a>\d\d?)\.\s?(?P<b>\d\d?)\.\s?(?P<y>1\d{3}|20\d\d)(?![\d/]|\.\d)", full, 0
    yield (
        r"(?<![\d-])(?P<y>(?:1[5-9]|20)\d\d)-(?P<b>0[1-9]|1[0-2])-(?P<a>[0-2]\d|3[01])(?![\d-])",
        lambda m: named(m["a"], m["b"], m["y"]),
        0,
    )
    if words.month_first:
        # A month and a day that can't be a fraction.
        yield (
            r"(?<![\d/.])(?P<b>1[0-2]|[1-9])/(?P<a>1[3-9]|2\d|3[01])(?![\d/%])(?! (?:chance|of)\b)",
            lambda m: words.short_date.format(day=int(m["a"]), month=months[int(m["b"]) - 1]),
            0,
        )
    for pattern, said in words.times_of_day:
        yield pattern, said, re.I


# -- money


_POINT = r"(?:\.(?=\s+[^A-ZÄÖÜÉ\s]|[,;:)]))?"
"""Behind an abbreviation, but not at the end of a sentence."""
_BEFORE = r"(?P<minus>[-−]\s?)?(?P<country>US|CA|AU|NZ|HK)?"


def _money(words: Reading) -> Rules:
    number, signs = words.number, words.currencies
    attached = r"(?P<attached>m)(?![\w])"  # million, only directly behind an amount of money
    signed, written = _any(words.scales), "|".join(words.scale_words)
    scale = rf"(?:{attached}|\s?(?P<scale>{signed})(?![\w]){_POINT}|\s(?P<word>{written})\b)?"
    until = rf"(?:\s?[-–—]\s?(?:[$€£¥₹]\s?)?(?P<until>{number}))?"
    per = r"(?P<per>\s?/\s?(?=[a-zA-Zµ]))?"

    def said(m: re.Match[str]) -> str:
        until, sign = m["until"], m["sign"]
        amount = m["amount"].strip() + (f" {words.to} {until}" if until else "")
        scaled = ""
        if m["scale"] or m["attached"]:
            one, many = words.scales[m["scale"] or "M"]
            scaled = f" {one if m['amount'] == '1' and not until else many}"
        elif m["word"]:
            scaled = f" {m['word']}"
        singular, plural, *linked = signs[sign]
        single = (m["amount"] == "1" and not until and not scaled) or _describes(words, m)
        name = singular if single else plural
        if scaled and linked and scaled.strip() not in words.unlinked:
            name = linked[0]
        country = f"{m['country']} " if m.groupdict().get("country") else ""
        minus = f"{words.minus} " if m.groupdict().get("minus") else ""
        return f"{minus}{amount}{scaled} {country}{name}{f' {words.per} ' if m['per'] else ''}"

    yield rf"(?<![\w.]){_BEFORE}(?P<sign>{_any(signs)})\s?(?P<amount>{number}){until}{scale}{per}", said, 0
    yield rf"(?<![\w.,])(?P<amount>{number}){until}{scale}\s?(?P<sign>{_any(signs)})(?![\w]){per}", said, 0
    yield rf"\b(di|de|d['’])(\s?)({_any(signs)})(?!\s?\d)", lambda m: f"{m[1]}{m[2]}{signs[m[3]][1]}", 0
    yield rf"(?<![\w.,$€£])({number})k(?=\s[a-zà-ÿ])", rf"\1 {words.scales['k'][1]}", 0
    long = _any([sign for sign in words.scales if len(sign) > 2])
    yield (
        rf"(?<![\w.,])({number})\s?({long})(?![\w]){_POINT}",
        lambda m: f"{m[1]} {words.scales[m[2]][0 if m[1] == '1' else 1]}",
        0,
    )


def _describes(words: Reading, m: re.Match[str]) -> bool:
    """Whether an amount describes the noun behind it, as in “a $10 bill”."""
    if not words.articles:
        return False
    before, after = m.string[: m.start()], m.string[m.end() :]
    article = re.search(rf"\b(?:{words.articles})\s$", before, re.I)
    noun = re.match(rf"\s(?!(?:{words.no_nouns})\b)[a-z]{{3,}}\b", after)
    return article is not None and noun is not None


# -- fractions, scores and other slashes


def fraction(words: Reading, over: str, under: str) -> str:
    if named := words.fractions.get(f"{over}/{under}"):
        return named
    return words.over.format(over, under)


_VULGAR = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅛": "1/8", "⅜": "3/8", "⅝": "5/8"}


def _fractions(words: Reading) -> Rules:
    named = words.fractions

    def mixed(m: re.Match[str]) -> str:
        return f"{m[1]} {words.and_} {named.get(_VULGAR[m[2]], _VULGAR[m[2]])}"

    for pattern, said in words.slashes:
        yield pattern, said, re.I
    yield rf"(?<!\d)(\d+)\s?([{''.join(_VULGAR)}])", mixed, 0
    yield rf"([{''.join(_VULGAR)}])", lambda m: named.get(_VULGAR[m[1]], _VULGAR[m[1]]), 0
    numbers = r"(?<![\d/.])(\d{1,3})/(\d{1,3})(?![\d/]|\.\d)"
    yield rf"(?<![\d/.,])(\d+) {numbers}", lambda m: f"{m[1]} {words.and_} {fraction(words, m[2], m[3])}", 0
    yield rf"{numbers}(?=\s(?:{words.chances})\b)", rf"\1 {words.in_} \2", re.I
    yield rf"{numbers}(?=\s(?:{words.ratings})\b)", rf"\1 {words.out_of} \2", re.I
    yield rf"\b((?:{words.rated})[:\s(]+){numbers}", rf"\1\2 {words.out_of} \3", re.I
    yield numbers, lambda m: fraction(words, m[1], m[2]), 0
    yield r"\b([A-Z]{2,6})/([A-Z]{2,6})\b", r"\1 \2", 0


# -- ranges


def _ranges(words: Reading) -> Rules:
    number = words.number
    for pattern, said in words.scores:
        yield pattern, said, re.I
    yield rf"(?<![\w.,–-])({number})\s?–\s?({number})(?![\d–-])", rf"\1 {words.to} \2", 0

    def ascending(m: re.Match[str]) -> str:
        first, last = m[1], m[2]
        plain = re.sub(r"\D", "", first), re.sub(r"\D", "", last)
        season = len(plain[0]) == 4 and len(plain[1]) == 2
        telephone = len(plain[0]) == 3 and len(plain[1]) == 4
        name = re.search(r"\w \b[A-Z]\w*[^s\W] $", m.string[max(0, m.start() - 30) : m.start()])  # Boeing 737-800
        if telephone or name or (int(plain[0]) >= int(plain[1]) and not season):
            return m[0]
        return f"{first} {words.to} {last}"

    yield rf"(?<![\w.,–/-])({number})-({number})(?![\w–/-]|[.,]\d)", ascending, 0
    yield r"\b([A-Z])\s?–\s?([A-Z])\b", rf"\1 {words.to} \2", 0
    yield r"(?<=[a-z])–(?=\d)", f" {words.to} ", 0
    yield r"(?<=\d)(\s?–\s?|-)(\d+)x\b", rf" {words.to} \2 {words.times_more}", 0
    yield r"(?<=\d)x(?=\s[a-z])", f" {words.times_more}", 0


def _weekdays(words: Reading) -> Rules:
    """Days of the week, written out or not: “Mon–Fri”."""
    day = "|".join(f"{name}|{short}" for name, short in words.weekdays)

    def full(found: str) -> str:
        return next(name for name, short in words.weekdays if re.fullmatch(f"{name}|{short}", found))

    yield (
        rf"\b({day})\.?\s?(?:[–-]|{words.to}\b)\s?({day})\b{_POINT}",
        lambda m: f"{full(m[1])} {words.to} {full(m[2])}",
        0,
    )


# -- units


def _raised(form: str, unit: str) -> str:
    """Returns a unit in the form for its square or cube, in German as one word."""
    return form.format(unit if form.startswith("{") or " " in form else unit.lower())


_SPACED = ("s", "h", "l", "L", "V", "W", "N")
"""Units that stand behind a space: the 1960s, 4L."""


def _measures(words: Reading) -> Rules:
    number, units = words.number, words.units
    name = _unit_names(words)
    between = rf"{re.escape(words.to)}|{re.escape(words.and_)}|{words.between}"
    tens = rf"(?P<amount>{number})(?P<more>(?:\s(?:{between})\s{number})?)"

    def unit(sign: str, amount: str, *, single: bool = False) -> str:
        singular, plural = units[sign]
        return singular if single or amount in ("1", "1,0", "1.0") else plural

    def measured(m: re.Match[str]) -> str:
        amount = m["amount"] + (m["more"] or "")
        single = (m["amount"] == "1" and not m["more"]) or _describes(words, m)
        power = (m["power"] or "").translate(_DIGITS).strip("^")
        said = unit(m["unit"], m["amount"], single=single)
        if power in ("2", "3"):
            form = (
                (words.square if power == "2" else words.cube)
                if "/" not in m["unit"]
                else f"{{}} {words.powers.get(power, power)}"
            )
            said = _raised(form, said)
        if m["under"]:
            below = unit(m["under"], "1") if m["under"] in units else m["under"]
            raised = (m["raised"] or "").translate(_DIGITS).strip("^")
            if raised in ("2", "3") and m["under"] == "s":
                below += f" {words.powers.get(raised, raised)}"
            elif raised in ("2", "3"):
                below = _raised(words.square if raised == "2" else words.cube, below)
            said += f" {words.per} {below}"
        return f"{amount} {said}"

    for pattern, said in words.measures:
        yield pattern, said, 0
    under = rf"(?:\s?/\s?(?P<under>{_any(units)}|{'|'.join(words.per_what)})(?![^\W²³])(?P<raised>[²³]|\^[23])?)?"
    yield rf"(?<![\w.,]){tens}\s?(?P<unit>{name})(?P<power>[²³]|\^[23])?(?![\w^'’]){under}", measured, 0
    yield r"\s?°\s?C\b", f" {words.celsius}", 0
    yield r"\s?°\s?F\b", f" {words.fahrenheit}", 0
    yield r"\s?°", f" {words.degrees}", 0
    yield r"(?<=\d)\s?%", f" {words.percent}", 0
    yield r"(?<=\d)\s?‰", f" {words.permille}", 0


def _units_alone(words: Reading) -> Rules:
    """Units behind a fraction that has been written out, and behind “per”."""
    name, named = _unit_names(words), _any(list(words.fractions.values()))
    yield rf"\b({named}) ({name})(?![\w'’])", lambda m: f"{m[1]} {words.units[m[2]][0]}", 0
    yield (
        rf"(?<=\b{re.escape(words.per)} )({name})([²³])?(?![\w²³])",
        lambda m: _raised(words.square if m[2] == "²" else words.cube if m[2] else "{}", words.units[m[1]][0]),
        0,
    )


def _unit_names(words: Reading) -> str:
    names = sorted(words.units, key=len, reverse=True)
    return "|".join(f"(?<=\\s){sign}" if sign in _SPACED else re.escape(sign) for sign in names)


# -- powers and signs


def _power(words: Reading, exponent: str) -> str:
    exponent = exponent.translate(_DIGITS).replace("−", "-").strip("(){} ")
    if exponent in words.powers:
        return f" {words.powers[exponent]}"
    return f" {words.power} {exponent.replace('-', words.minus + ' ').replace('+', '')}"


def _powers_of_numbers(words: Reading) -> Rules:
    yield r"(?<=\d)e([-+−]?\d+)\b", lambda m: f" {words.times} 10{_power(words, m[1])}", re.I
    yield r"(?<=[0-9])([⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+)", lambda m: _power(words, m[1]), 0
    yield r"(?<=[0-9])\^(\([-−+]?\d+\)|[-−+]?\d+)", lambda m: _power(words, m[1]), 0


def _powers(words: Reading) -> Rules:
    def power(exponent: str) -> str:
        return _power(words, exponent)

    yield r"(?<=[\w)])\s?\^\s?(\([-−+]?\w+\)|[-−+]?\w+)", lambda m: power(m[1]), 0
    yield r"(?<=[\w)])([⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+)", lambda m: power(m[1]), 0


def _signs(words: Reading) -> Rules:
    operand, greek = r"(?=\s?[-−]?[\d(√πa-zA-Z])", "|".join(words.greek.get(name, name) for name in GREEK)
    for sign, said in words.comparisons.items():
        # Between two terms it is a verb; behind a word, only a comparison.
        verb, bare = said
        yield rf"(?<![\w])((?:\d[\d.,]*|[a-zA-Z]|{greek}|[a-zA-Z]\([a-z]\)|\)))\s?{sign}{operand}\s?", rf"\1 {verb} ", 0
        yield rf"\s?(?<![<>=-]){sign}(?![<>=]){operand}\s?", f" {bare} ", 0
    yield r"(?<=[\w)])\s?(?:→|->|⇒|=>)\s?(?=[a-z]\b)", f" {words.maps_to} ", 0
    yield r"(?<=[\w)])\s*±\s*|±\s*", f" {words.plus_minus} ", 0
    yield r"(?<![\w])~\s?(?=\d)", f"{words.about} ", 0
    yield r"\s*≈\s*", f" {words.is_about} ", 0
    yield r"(?<![\w&])#\s?(?=\d)", f"{words.number_word} ", 0
    yield r"(?<=[\d)a-zA-Zπ])\s?[×·]\s?(?=[\d(√πa-zA-Z])|(?<=\d)\s?\*\s?(?=\d)", f" {words.times} ", 0
    yield r"(?<=[\w)])\s\*\s(?=[\w(])", f" {words.times} ", 0
    if not words.month_first:  # where a colon is the sign of a division, too
        yield r"(?<=\d) : (?=\d+(?:[.,]\d+)?\s?=)", f" {words.divided} ", 0
    yield r"(?<=\d)\s?÷\s?(?=\d)|(?<=\d)\s/\s(?=\d)", f" {words.divided} ", 0
    yield r"(?<=[\w)])\s[-−]\s(?=[\d(a-z]\b|[\d(])|(?<=[\d)])\s?−\s?(?=[\d(])", f" {words.minus} ", 0
    yield r"(?:^|(?<=[\s(=]))[-−](?=\d|[a-z]\b)", f"{words.minus} ", re.M
    yield r"(?<=\b[A-F])\+(?=\s|[.,;)]|$)", f" {words.plus}", 0
    yield r"(?<=\b[A-F])[-−](?=\s|[.,;)]|$)", f" {words.minus}", 0
    yield r"(?<=[\w)])\s?\+\s?(?=[\w(])", f" {words.plus} ", 0
    yield r"(?<=[\w)])\s?=\s*(?=[\w(√π±−-])", f" {words.equals} ", 0
    yield r"√\s?(?=[\w(])", f"{words.root} ", 0
    yield r"(?<=\d)π|\bπ", f" {words.pi}", 0
    yield r"(?<=\w)\s*&\s*(?=\w)", f" {words.and_} ", 0
    yield r"§\s?(?=\d)", f"{words.paragraph} ", 0
    yield r"\b([A-Za-zà-ÿ]{2,})/([a-zà-ÿ]{2,})\b(?![./])", rf"\1 {words.or_} \2", 0


# -- Roman numerals


_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_NUMERAL = r"(?=[IVXL]+\b)(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"


def roman(text: str) -> int:
    """Returns the value of a Roman numeral."""
    values = [_ROMAN[letter] for letter in text]
    return sum(-one if one < two else one for one, two in zip(values, [*values[1:], 0], strict=True))


def _numerals(words: Reading) -> Rules:
    def reader(form: str) -> Callable[[re.Match[str]], str]:
        return lambda m: m.expand(form).replace("\0", words.numbered(roman(m["n"]), m[0]))

    for pattern, form in words.numerals:
        yield pattern.replace("NUMERAL", rf"(?P<n>{_NUMERAL})\b"), reader(form), 0
