"""Events of a conversation, and of two models side by side, for tests of the window."""

from app.conversation import events as e

NO_OLLAMA = (
    "Ollama did not answer at http://localhost:11434. Start Ollama, or pick another model above; the conversation "
    "goes on with what there is."
)
MODEL = ("embedded", "qwen2.5-0.5b")


def talk(at: float = 0.0) -> list[e.Event]:
    """Three revisions, an answer, an interruption, a failed back-end, and another answer."""
    first = "The highest mountain in Europe is Mont Blanc, on the border of France and Italy."
    second = (
        "The highest mountain in Europe is Mount Elbrus in the Caucasus, 5,642 metres high. If the Caucasus "
        "isn't counted in, it is Mont Blanc with 4,806 metres."
    )
    return [
        e.SessionStarted(at, "cascade", "whisper base.en", *MODEL, "thinking"),
        e.UserStarted(at + 1.0, 1),
        e.TranscriptPartial(at + 1.8, 1, "What is the", "highest mount", at + 1.7),
        e.OracleRequested(at + 1.8, 1, 1, *MODEL, "What is the highest mount", False),
        e.TranscriptPartial(at + 2.4, 1, "What is the highest mountain in", "Europe", at + 2.3),
        e.OracleDelta(at + 2.1, 1, first),
        e.OracleRequested(at + 2.4, 2, 1, *MODEL, "What is the highest mountain in Europe", False),
        e.TranscriptFinal(at + 3.2, 1, "What is the highest mountain in Europe, and how high is it?", at),
        e.UserEnded(at + 3.2, 1, at + 2.9, "button"),
        e.OracleEnded(at + 3.2, 2, "superseded", 0),
        e.OracleRequested(at + 3.2, 3, 1, *MODEL, "What is the highest mountain in Europe and how", True),
        e.OracleDelta(at + 3.5, 3, second),
        e.OracleSuperseded(at + 3.5, 1, 3),
        e.AssistantStarted(at + 3.6, 1, 3),
        e.AssistantSaid(at + 6.0, 1, "The highest mountain in Europe is Mount Elbrus in the Caucasus,", 3),
        e.OracleEnded(at + 5.0, 3, "complete", 26),
        e.UserBackchannel(at + 6.1, 2, "Mhm."),
        e.AssistantSaid(at + 7.5, 1, "5,642 metres high.", 3),
        e.UserStarted(at + 8.0, 3),
        e.AssistantEnded(at + 8.3, 1, True),
        e.TranscriptFinal(at + 9.4, 3, "And who climbed it first?", at + 9.3),
        e.UserEnded(at + 9.5, 3, at + 9.2, "button"),
        e.OracleRequested(at + 9.5, 4, 3, "ollama", "gemma3:4b", "And who climbed it first", True),
        e.OracleEnded(at + 9.6, 4, "failed", 0),
        e.Failure(at + 9.6, "backend", NO_OLLAMA),
        e.OracleRequested(at + 9.8, 5, 3, *MODEL, "And who climbed it first", True),
        e.OracleDelta(at + 10.2, 5, "The lower, eastern summit was reached in 1829 by Kilar Khashirov."),
        e.AssistantStarted(at + 10.3, 3, 5),
        e.AssistantSaid(at + 11.5, 3, "The lower, eastern summit was reached", 5),
        e.LevelMeasured(at + 11.5, -34.0, -9.0),
        e.LevelMeasured(at + 11.6, -41.0, -16.0),
    ]


CLAUDE, GPT = ("Anthropic", "claude-opus-4-1"), ("OpenAI", "gpt-4.1-mini")


def counted(revision: int, backend: tuple[str, str], cost: float | None, secondary: bool = False) -> e.OracleCounted:
    """The usage of a revision."""
    return e.OracleCounted(
        12.0, revision, *backend, 412, 38, 256 if secondary else 0, True, cost, 612.0, 7.5, 400.0, secondary
    )


def side_by_side(at: float) -> list[e.Event]:
    """Two back-ends answer, tools are used, and the answer is handed over."""
    words = "How many days are there until the first of March, and is this a leap year"
    return [
        e.AssistantEnded(at, 3, False),
        e.BackendChanged(at, *CLAUDE),
        e.SecondaryChanged(at, *GPT),
        e.UserStarted(at + 1, 4),
        e.OracleRequested(at + 2, 6, 4, *CLAUDE, "How many days are there until", False),
        e.OracleRequested(at + 2, 7, 4, *GPT, "How many days are there until", False, True),
        e.OracleDelta(at + 2.5, 6, "It depends on"),
        e.OracleDelta(at + 2.6, 7, "There are 100 days until"),
        e.OracleEnded(at + 3, 7, "superseded", 5),
        counted(7, GPT, 0.0002, True),
        e.TranscriptFinal(at + 4, 4, words + "?", at + 4),
        e.UserEnded(at + 4, 4, at + 3.8, "button"),
        e.OracleRequested(at + 4, 8, 4, *CLAUDE, words, True),
        e.OracleRequested(at + 4, 9, 4, *GPT, words, True, True),
        e.OracleDelta(at + 4.3, 9, "There are 100 days until the first of March. This is not a leap year."),
        e.OracleEnded(at + 4.6, 9, "complete", 15),
        counted(9, GPT, 0.0002, True),
        e.ToolCalled(at + 4.3, 8, "clock", "{}"),
        e.ToolReturned(at + 4.4, 8, "clock", True, "Saturday, 21 November 2026, 18:20", 0.01),
        e.ToolCalled(at + 4.5, 8, "calculator", '{"expression": "9 + 31 + 31 + 28 + 1"}'),
        e.ToolReturned(at + 4.6, 8, "calculator", True, "100", 0.02),
        e.OracleSuperseded(at + 4.8, 6, 8),
        e.OracleEnded(at + 4.8, 6, "superseded", 3),
        counted(6, CLAUDE, 0.0058),
        e.OracleDelta(at + 4.8, 8, "One hundred days, and no: the next leap year is 2028."),
        e.AssistantStarted(at + 5, 4, 8),
        e.AssistantSaid(at + 6, 4, "One hundred days, and no:", 8),
        e.OracleEnded(at + 6, 8, "complete", 10),
        counted(8, CLAUDE, 0.0091),
        e.BackendChanged(at + 6.2, *GPT, "handed"),
        e.OracleHandedOver(at + 6.2, 9),
        e.OracleSuperseded(at + 6.2, 8, 9),
        e.SecondaryChanged(at + 6.2, *CLAUDE),
        e.AssistantCorrected(at + 6.5, 4, 9, "continued"),
        e.AssistantSaid(at + 7, 4, "this is not a leap year.", 9),
        e.BudgetChanged(at + 7, "slow", 0.0153, 0.02),
    ]
