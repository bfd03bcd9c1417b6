"""The languages of talks: what a voice is given to say, how a model is asked, and which words only say “go on”."""

import pytest

from app.conversation.languages import CODES, language
from app.conversation.prompt import PERSONA, system_prompt
from app.conversation.reading import reading
from app.conversation.reading.grammar import later_rules
from app.conversation.reading.markup import first_rules
from app.conversation.speaking.clauses import split_clauses, spoken
from app.conversation.speaking.correction import plan_correction
from app.conversation.words import fold, is_backchannel, is_echo


@pytest.mark.parametrize(
    ("code", "written", "said"),
    [
        ("de", "Das kostet 5 €, also 20 % mehr.", "Das kostet 5 Euro, also 20 Prozent mehr."),
        ("de", "17 + 25 = 42, z. B. bei 3 °C", "17 plus 25 gleich 42, zum Beispiel bei 3 Grad Celsius"),
        ("de", "Es sind 3.500 km² und 120 km/h.", "Es sind 3.500 Quadratkilometer und 120 Kilometer pro Stunde."),
        ("es", "Cuesta 5 € y sube un 20 %.", "Cuesta 5 euros y sube un 20 por ciento."),
        ("es", "6 × 7 = 42", "6 por 7 es igual a 42"),
        ("fr", "Il fait 20 °C, soit 50 %.", "Il fait 20 degrés Celsius, soit 50 pour cent."),
        ("it", "Costa 5 € & pesa 3 kg", "Costa 5 euro e pesa 3 chilogrammi"),
        ("en", "It costs €5, that is 20% more.", "It costs 5 euros, that is 20 percent more."),
        ("de", "**Fett**, siehe https://a.b/c", "Fett, siehe ein Link"),
        ("de", "3. Oktober 1990.", "3. Oktober 1990."),
        ("de", "Heiligabend: 24. Dezember", "Heiligabend: 24. Dezember"),
        ("de", "Es gibt zwei: 1. Hunde", "Es gibt zwei: Hunde"),
        ("de", "3·10^8 m/s", "3 mal 10 hoch 8 Meter pro Sekunde"),
        ("es", "2^10 = 1024", "2 elevado a 10 es igual a 1024"),
        ("es", "n.° 5", "número 5"),
        ("fr", "n° 5 et 10^3", "numéro 5 et 10 au cube"),
        ("it", "il 1° maggio, 2^10", "il primo maggio, 2 alla 10"),
    ],
)
def test_signs_units_and_money_are_said_in_the_answers_language(code: str, written: str, said: str) -> None:
    assert spoken(written, code) == said


def test_a_model_is_asked_in_the_conversations_language_and_keeps_a_persona_of_the_users() -> None:
    assert "auf Deutsch" in system_prompt(PERSONA, code="de") and "You" not in system_prompt(PERSONA, code="de")
    assert system_prompt("Small.", code="es") == language("es").small_persona
    told = system_prompt(PERSONA, "Du bist ein Pirat.", "short", "de")
    assert told.startswith("Du bist ein Pirat. Antworte auf Deutsch.")
    assert told.endswith(language("de").lengths["short"])
    assert system_prompt(PERSONA) == PERSONA and system_prompt("Small.") == "Small."


@pytest.mark.parametrize(
    ("code", "words", "only"),
    [
        ("de", "Ja, genau", True),
        ("de", "Nein, warte", False),
        ("es", "ya veo", True),
        ("es", "espera", False),
        ("en", "ja, genau", False),
        ("fr", "d'accord", True),
        ("it", "sì, certo", True),
    ],
)
def test_words_that_only_say_go_on_are_those_of_the_language(code: str, words: str, only: bool) -> None:
    assert is_backchannel(words, code) is only


def test_every_language_has_all_that_a_conversation_needs() -> None:
    for code in CODES:
        one = language(code)
        assert one.code == code and len(one.openings) >= 3 and len(one.longer_openings) >= 4
        assert len(one.bridges) == 3 and len(one.backchannels) > 15
        assert set(one.lengths) == {"short", "medium", "long"}
        assert first_rules(code) and later_rules(code)
        assert len(reading(code).months) == 12 and reading(code).units.keys() >= {"km", "kg", "min", "GB"}
    assert language("pl") is language("en"), "there is no module for it"


@pytest.mark.parametrize(
    ("code", "text", "clauses"),
    [
        ("de", "Es sind ca. 5 Mio. Menschen. Das ist viel.", ["Es sind ca. 5 Mio. Menschen.", "Das ist viel."]),
        (
            "de",
            "Photosynthese nennt man den Vorgang, bei dem Pflanzen Licht in Zucker verwandeln.",
            ["Photosynthese nennt man den Vorgang,", "bei dem Pflanzen Licht in Zucker verwandeln."],
        ),
        ("es", "Vive en EE. UU. desde 1990. Es médico.", ["Vive en EE. UU. desde 1990.", "Es médico."]),
        ("it", "Sì, lo è. Milano invece no.", ["Sì, lo è.", "Milano invece no."]),
        ("de", "Er sagte: „Das ist gut.“ Danach ging er.", ["Er sagte: „Das ist gut.“", "Danach ging er."]),
        ("fr", "Il a dit «c'est bon.» Puis il est parti.", ["Il a dit «c'est bon.»", "Puis il est parti."]),
        (
            "es",
            "Los planetas del sistema solar giran alrededor del sol en órbitas.",
            ["Los planetas del sistema solar giran alrededor", "del sol en órbitas."],
        ),
        ("de", "Er kam am 12. Mai 1990. Das weiß ich.", ["Er kam am 12. Mai 1990.", "Das weiß ich."]),
        ("fr", "C'est M. Hugo. Il écrit.", ["C'est M. Hugo.", "Il écrit."]),
        ("it", "Lo dice il dott. Rossi. È vero.", ["Lo dice il dott. Rossi.", "È vero."]),
    ],
)
def test_clauses_close_as_the_language_has_them(code: str, text: str, clauses: list[str]) -> None:
    assert split_clauses(text, complete=True, code=code) == clauses


@pytest.mark.parametrize(
    ("code", "said", "newer", "action"),
    [
        ("de", "Es sind sieben Planeten.", "Es sind acht Planeten.", "correct"),
        ("de", "Das ist nicht möglich.", "Das ist möglich.", "correct"),
        ("de", "Stockholm ist die Hauptstadt.", "Die Hauptstadt ist Stockholm. Österreichs ist Wien.", "continue"),
        ("es", "Es posible hoy.", "No es posible hoy.", "correct"),
        ("fr", "Il y a huit planètes.", "Il y a neuf planètes.", "correct"),
        ("de", "Die Heizung ist an.", "Die Heizung ist aus.", "correct"),
        ("de", "Es sind dreißig Tage im Mai.", "Es sind vierzig Tage im Mai.", "correct"),
        ("es", "El vino es muy bueno.", "El vino es muy malo.", "correct"),
        ("it", "Nel museo ci sono duecento quadri.", "Nel museo ci sono trecento quadri.", "correct"),
        ("fr", "La ville importante est Paris.", "Paris est la ville importante. Österreichs est Vienne.", "continue"),
        ("it", "Roma è la capitale.", "La capitale è Roma. È antica.", "continue"),
    ],
)
def test_what_contradicts_is_corrected_in_every_language(code: str, said: str, newer: str, action: str) -> None:
    clauses = split_clauses(newer, complete=True, code=code)
    found = plan_correction(said, clauses, complete=True, code=code)
    assert found.action == action
    if action == "correct":
        assert found.bridge == language(code).bridges[0]
    else:
        assert clauses[found.next_clause].startswith(("Österreichs", "È antica"))


def _openings(code: str) -> tuple[str, ...]:
    return language(code).openings + language(code).longer_openings


@pytest.mark.parametrize("code", CODES)
def test_the_app_says_no_command_on_its_own(code: str) -> None:
    said = {word for phrase in (*_openings(code), *language(code).bridges) for word in fold(phrase)}
    known = language(code).commands & said
    assert known <= {"no", "wait", "nein", "warte", "non", "attends", "aspetta", "espera", "hold"}, "in bridges alone"
    assert not language(code).commands & {word for phrase in _openings(code) for word in fold(phrase)}


def test_a_command_of_the_language_is_no_echo() -> None:
    assert is_echo("die Hauptstadt von Schweden", "Das ist die Hauptstadt von Schweden.", "de")
    assert not is_echo("warte mal", "Ich sagte, warte mal.", "de") and is_echo("warte mal", "Er rief warte mal.", "en")
