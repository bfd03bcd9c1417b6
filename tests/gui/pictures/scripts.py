"""The conversations in the README's pictures."""

from app.conversation import events as e
from tests.gui.pictures.event_script import Backend, EventScript

HAIKU: Backend = ("Anthropic", "claude-haiku-4-5")
GPT: Backend = ("OpenAI", "gpt-4.1-mini")
GEMMA: Backend = ("Ollama", "gemma3:4b")

WHY_RED = (
    "Because the tree takes its green back. Chlorophyll is costly, so the tree breaks it down and keeps the parts for "
    "spring. Yellow was there all along, hidden behind it. Red is different: that is made fresh, in the last few weeks."
)
SUNSCREEN = (
    "Most likely as a sunscreen. Without its green the leaf can't use all the light it gets, and red keeps the rest "
    "from doing harm while the tree draws its nitrogen home. Others think that it warns off aphids, which look for a "
    "place to lay their eggs just then."
)


def leaves(until: float = 28.3) -> list[e.Event]:
    """A question, and another one about the answer: two revisions are superseded before the third one is spoken."""
    script = EventScript(HAIKU)
    script.add(e.ContextMeasured(0.5, 6, 3000), e.ContextMeasured(28.0, 350, 3000))
    question = "Why do leaves turn red in autumn?"
    end = script.user_says(1, 1.0, question)
    script.request(1, 1, 2.3, "Why do leaves turn", "Leaves turn towards the light, so that", until=3.3, cost=0.0002)
    first = script.request(2, 1, end + 0.15, question.rstrip("?"), WHY_RED, final=True, cost=0.0004)
    script.supersede(first, 2, 1)
    script.assistant_says(1, 2, first + 0.12, WHY_RED, ends=True)

    question = "And why would a tree make a new colour for a leaf that it is about to drop?"
    begin = 17.4
    end = script.user_says(2, begin, question)
    script.request(
        3,
        2,
        begin + 1.6,
        "And why would a tree",
        "A tree grows toward whatever light it can reach.",
        until=20.3,
        cost=0.0002,
    )
    first = script.request(
        4,
        2,
        20.0,
        "And why would a tree make a new colour",
        "It makes red from sugar that is left in the leaf.",
        until=22.95,
        cost=0.0003,
    )
    script.supersede(first, 4, 3)
    first = script.request(5, 2, end + 0.16, question.rstrip("?"), SUNSCREEN, final=True, first=0.24, cost=0.0005)
    script.supersede(first, 5, 4)
    script.assistant_says(2, 5, first + 0.1, SUNSCREEN, ends=True)
    return script.events(until)


LEAP_WORDS = "How many days are there until the first of March, and is this a leap year"
HUNDRED = "There are a hundred days until the first of March. This year is not a leap year; the next one is 2028."
ONE_HUNDRED = (
    "One hundred days, counted from today. And no: twenty twenty-six has no leap day; twenty twenty-eight has."
)


def side_by_side(until: float = 13.4) -> list[e.Event]:
    """Two back-ends answer the same words; the primary one uses two tools, and is spoken."""
    script = EventScript(HAIKU)
    begin = 1.0
    script.add(e.ContextMeasured(10.0, 125, 3000))
    script.add(e.SecondaryChanged(0.4, *GPT))
    end = script.user_says(1, begin, LEAP_WORDS + "?")
    script.request(
        1, 1, 3.4, "How many days are there until", "That depends on the day that you have in", until=6.1, cost=0.0003
    )
    script.request(
        2,
        1,
        3.4,
        "How many days are there until",
        "Until which day? I can count the days to any",
        first=0.5,
        until=6.2,
        secondary=True,
        backend=GPT,
        cost=0.0001,
    )
    asked = end + 0.16
    script.add(
        e.ToolCalled(asked + 0.2, 3, "clock", "{}"),
        e.ToolReturned(asked + 0.21, 3, "clock", True, "Saturday, 21 November 2026, 18:20", 0.01),
        e.ToolCalled(asked + 0.4, 3, "calculator", '{"expression": "9 + 31 + 31 + 28 + 1"}'),
        e.ToolReturned(asked + 0.42, 3, "calculator", True, "100", 0.02),
    )
    first = script.request(3, 1, asked, LEAP_WORDS, ONE_HUNDRED, final=True, first=0.7, cost=0.0011)
    script.supersede(first, 3, 1)
    script.request(4, 1, asked, LEAP_WORDS, HUNDRED, final=True, first=0.48, secondary=True, backend=GPT, cost=0.0002)
    script.supersede(asked + 0.48, 4, 2)
    script.assistant_says(1, 3, first + 0.1, ONE_HUNDRED, ends=True)
    return script.events(until)


COLD = (
    "It pumps heat from the cold air outside into the warm rooms, like a fridge turned around. Even at minus ten there "
    "is heat in the air; a liquid that boils far below that takes it up."
)
BILL = (
    "For each unit of electricity it brings in three to four units of heat. With radiators that were made for hot "
    "water it is closer to three, with heating in the floor closer to four."
)


def heat_pump() -> list[e.Event]:
    """An earlier session of the conversation."""
    script = EventScript(GEMMA, "cascade")
    question = "How does a heat pump warm a house in winter?"
    end = script.user_says(1, 1.0, question)
    first = script.request(1, 1, end + 0.2, question, COLD, final=True, first=0.4)
    script.assistant_says(1, 1, first + 0.2, COLD, ends=True)
    return [*script.events(26.0), e.SessionEnded(26.0, 325)]


def heat_pump_again(until: float = 11.6) -> list[e.Event]:
    """The conversation continued later."""
    script = EventScript(GEMMA, "cascade")
    question = "And what would that do to my bill?"
    end = script.user_says(1, 1.0, question)
    script.request(1, 1, 2.4, "And what would that", "That would make the liquid boil in the pipes", until=3.7)
    first = script.request(2, 1, end + 0.2, question, BILL, final=True, first=0.4)
    script.supersede(first, 2, 1)
    script.assistant_says(1, 2, first + 0.2, BILL, ends=True)
    return script.events(until)


REFUSED = "OpenAI refuses the API key. Check the key, or choose another model."
GONE = (
    "The microphone “Desk microphone” is gone. The conversation continues with “Built-in microphone”; yours is taken "
    "again when it is back."
)
BREAD = (
    "Mix four hundred grams of flour, a little yeast, salt and three hundred grams of water, and leave it alone until "
    "tomorrow. Time does what kneading would have done."
)


def trouble(until: float = 10.5) -> list[e.Event]:
    """A back-end refuses its key, the previous one takes over, and a microphone is unplugged."""
    script = EventScript(GEMMA, "cascade")
    question = "How do I bake bread without kneading?"
    end = script.user_says(1, 2.0, question)
    script.add(e.BackendChanged(0.8, *GPT))
    script.add(
        e.OracleRequested(3.4, 1, 1, *GPT, "How do I bake", False),
        e.OracleEnded(3.6, 1, "failed", 0),
        e.Failure(3.6, "backend", REFUSED, provider="openai", model="gpt-4.1-mini", about="backend"),
        e.BackendChanged(3.6, *GEMMA, "fallback", "ollama", "gemma3:4b", "http://127.0.0.1:11434"),
        e.DeviceChanged(9.0, "microphone", "moved", "Built-in microphone", GONE),
    )
    first = script.request(2, 1, end + 0.2, question, BREAD, final=True, first=0.4)
    script.assistant_says(1, 2, first + 0.2, BREAD, ends=True)
    return script.events(until)


def measured() -> list[e.Event]:
    """Two dozen answers whose stages take differently long; two of them are slow."""
    script = EventScript(HAIKU)
    at = 0.5
    for turn in range(1, 25):
        question = "What would that mean for a small house like mine?"
        end = script.user_says(turn, at, question)
        slow = turn in (11, 24)
        delay = 1.9 if slow else 0.22 + (turn * 7 % 11) * 0.03
        answer = "It would mean less work, and a little more patience at the start."
        noticed = end + 0.15 + (turn * 5 % 7) * 0.02
        first = script.request(turn, turn, noticed, question, answer, final=True, first=delay, cost=0.0004)
        at = script.assistant_says(turn, turn, first + 0.1 + (turn * 3 % 5) * 0.01, answer, ends=True) + 1.2
    return script.events(at)
