"""What the app accepts at each of its boundaries: size, depth, number of values, type and time; and what is refused.

All bounds stand in this table, several times above the largest thing that a well-behaved source was seen to send.
"""

from __future__ import annotations

from dataclasses import dataclass


class Refused(ValueError):
    """Input that is not taken in. `str(error)` is a clause about the source, such as "it is longer than 4 MB"."""


class OtherVersion(Refused):
    """A file in the format `found` of another version of the app, while this one has the format `known`."""

    def __init__(self, found: int, known: int) -> None:
        super().__init__(f"another version of KAME has written it (in format {found}, and this one has format {known})")
        self.ending = f"version-{found}"
        """For the name of a file that is set aside."""


class RedirectRefused(Refused):
    """An answer that would send a request on to another server, which is given neither words nor keys.

    `to`: the scheme, host and port of that server.
    """

    def __init__(self, to: str) -> None:
        super().__init__(f"it sends this app on to another server ({to}), which is not followed")
        self.to = to


def refusal_in(error: BaseException | None) -> Refused | None:
    """Returns the refusal that an error is, or that it was raised from; None if there is none."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, Refused):
            return error
        seen.add(id(error))
        if isinstance(error, BaseExceptionGroup):
            found = next((one for inner in error.exceptions if (one := refusal_in(inner))), None)
            if found is not None:
                return found
        error = error.__cause__ or error.__context__
    return None


KB, MB, GB = 2**10, 2**20, 2**30


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of one kind of input.

    `bytes`: its size after decompression. `depth` and `items`: how deeply its JSON is nested, and how many values it
    has in all. `kind`: the type of the outermost value. `seconds`: the time for the whole exchange, where there is one.
    """

    bytes: int
    depth: int = 16
    items: int = 10_000
    kind: type | tuple[type, ...] = dict
    seconds: float = 0.0


# From servers of language models
ANSWER = Limits(2 * MB, depth=32, items=100_000)
"""The body of an answer that is not streamed. OpenRouter's list of models has 0.6 MB and 25,000 values."""
ANSWER_STREAM = Limits(64 * MB)
"""All that one streamed answer may send; its text is cut far below this."""
ANSWER_EVENT = Limits(256 * KB, depth=32, items=10_000)
"""One event or line of a streamed answer."""
ERROR_BODY = Limits(64 * KB, depth=32, items=2_000, kind=(dict, list))
MODEL_LIST = Limits(2 * MB, depth=32, items=100_000, kind=(dict, list), seconds=8.0)
MODELS = 5_000
"""The most models of one server that are offered."""
MODEL_NAME_CHARS = 300
TOOL_ARGUMENTS = Limits(64 * KB, depth=24, items=5_000)
"""The arguments of a tool call, as the model writes them."""
TOOL_CALLS = 64
"""The most tool calls in one answer."""
TOKENS = 10**9
"""The most tokens that a server can count for one answer."""

# From tool servers
TOOL_MESSAGE = Limits(4 * MB, depth=48, items=12_000)
"""One message of an MCP server: a result, or a page of its list. The package `mcp` parses it on the event loop."""
TOOL_STREAM = Limits(256 * MB)
"""All that one connection of an MCP server over HTTP may send in a single answer."""
TOOL_CHILD = Limits(2**63)
"""All that an MCP server may send as a child process: it may live as long as the app."""
TOOL_SCHEMA = Limits(16 * KB, depth=24, items=1_000)
"""What one tool takes, as it is told to the model with every request."""
TOOL_TEXT_CHARS = 4_000
"""What the model is given of a result."""
TOOL_FILE_BYTES = 4 * MB
"""The most of a permitted file that a model can read, page by page."""
TOOL_SEARCHED_BYTES = 1 * MB
"""The most of each permitted file that is searched."""

# From a hub of models
HUB_LISTING = Limits(16 * MB, depth=24, items=400_000, seconds=30.0)
HUB_CONFIG = Limits(1 * MB, depth=24, items=20_000)
"""`config.json` of a model."""
WEIGHTS_HEADER = Limits(64 * MB, depth=8, items=4_000_000)
"""The header of a safetensors file."""
WEIGHTS_RECORD = Limits(8 * MB, depth=6, items=100_000)
"""The record that a download leaves beside its files."""

# Files of the user and of other programs
CONVERSATION = Limits(64 * MB, depth=24, items=8_000_000)
"""A conversation that is imported."""
EVENT_LINE = Limits(1 * MB, depth=12, items=20_000)
"""One event of a recorded or kept talk."""
RECORDING = Limits(64 * MB)
"""The events of one recorded talk."""
SOUND_BYTES = 2 * GB
"""One side of an imported talk's sound: more than twelve hours."""
HISTORY_FIELD = Limits(4 * MB, depth=16, items=50_000, kind=(dict, list))
"""A field of JSON in the history's database, such as a conversation's setup with its documents."""
PACKED_TALK = Limits(64 * MB)
"""A talk's events in the history's database, after decompression."""
EARLIEST, LATEST = 0.0, 32_503_680_000.0
"""Dates of talks, in seconds since 1970: until the year 3000."""
SETTINGS = Limits(1 * MB, depth=16, items=20_000)
"""The settings, and the window's own state beside them."""
SMALL_FILE = Limits(256 * KB, depth=8, items=5_000)
"""Speeds, pauses, the time of the last check for updates."""
SETTING_LIST = Limits(256 * KB, depth=8, items=5_000, kind=(dict, list))
"""A setting whose value is JSON itself: the router's table."""
CORPUS = Limits(1 * GB, depth=16, items=50_000_000, kind=(dict, list))
"""A file of questions, or of a corpus for training."""
CORPUS_LINE = Limits(4 * MB, depth=16, items=200_000)
"""One question, or one dialogue."""
BENCH_RESULT = Limits(64 * MB, depth=24, items=4_000_000)
"""The result of a bench, with the words of all its talks."""
BENCH_FIGURE = Limits(16 * MB)
"""A figure that a bench has drawn."""
BENCH_MARKS = Limits(8 * MB, depth=12, items=200_000, kind=(dict, list))
"""What is marked in a sample of a bench."""
PRICES = Limits(2 * MB, depth=8, items=100_000)
TOOL_SERVERS = Limits(1 * MB, depth=24, items=20_000)
BILL = Limits(4 * MB, depth=16, items=100_000)
"""The bill of materials that a build puts beside the app."""
DOCUMENT_BYTES = 10 * MB
PDF_BYTES = 100 * MB
"""Most of a large PDF file are pictures, which are not read."""
PDF_TEXT = Limits(16 * MB, depth=4, items=100)

# From a voice server, and from a client of ours
VOICE_MESSAGE = Limits(64 * KB)
"""One message with sound in Moshi's protocol: 80 ms have some 330 bytes."""
VOICE_EVENT = Limits(256 * KB, depth=8, items=2_000)
"""One event of a session on another machine."""
VOICE_KEY = Limits(4 * KB)
"""A file with the key that a voice server wants of its clients."""

# Others
UPDATE_FEED = Limits(64 * KB, depth=4, items=100, seconds=20.0)
COMMAND = Limits(256, seconds=3.0)
"""A line that another process sends to the app's local socket, and how long one may take to send it."""
COMMAND_CLIENTS = 16
"""Connections to that socket at a time."""
COMMAND_LINE = Limits(4 * KB, depth=3, items=16)
"""The app's answer to it."""
CHILD_LINE = Limits(16 * MB, depth=12, items=200_000, kind=(dict, list, str, int, float))
"""One line of a child process of the app's own."""


def in_words(count: int) -> str:
    """Returns a number of bytes in words, such as "4 MB"."""
    for size, unit in ((GB, "GB"), (MB, "MB"), (KB, "KB")):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"
