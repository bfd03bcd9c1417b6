"""What a model writes: its text in a talk, the arguments of its tool calls, expressions for the calculator."""

import json
from pathlib import Path

from hypothesis import strategies as st

from app.backend.thinking import AnswerFilter
from app.conversation import events as e
from app.conversation import markdown
from app.conversation.event_json import read_event, to_json
from app.conversation.languages import CODES
from app.conversation.markdown import blocks
from app.conversation.speaking.clauses import split_clauses, spoken
from app.tools.calculator import Calculator
from app.tools.clock import Clock
from app.tools.toolbox import Toolbox
from app.untrusted.text import HarmlessStream, harmless
from tests.fuzz.boundary import Boundary
from tests.fuzz.mutations import HOSTILE_TEXT, json_bytes

_MARKS = st.sampled_from(
    "* ** ` ``` # | [ ]( ) <b> <img_src=x> $ \\( 1. -_ word_ 3.14 Dr._ https://a.b/c _ ~~ &amp; 12/5/2026 € … “ 日本 "
    "<think> </think> [THINK] <|im_end|> </s> <|channel|>analysis<|message|> $1.5M [1][2] 【4†source】 \\frac{1}{2} "
    "x^{2} ½ 24/7 5°C Mon–Fri *laughs* <details> ───── &lt; "
    "שלום \ud83d \ude00 \x1b[".replace("_", " ").split(" ")
) | st.sampled_from(["\n", "\n\n", "| a | b |\n|---|---|\n"])
_TEXT = st.lists(_MARKS | st.text(max_size=6), max_size=60).map("".join) | HOSTILE_TEXT
_PIECES = st.lists(_TEXT, max_size=6).map(lambda pieces: json.dumps(pieces).encode())
_TIMES = st.sampled_from([1, 1, 1, 40])


async def _text(data: bytes, folder: Path) -> str:
    """The pieces of an answer, as a talk treats them: cleaned, cut into clauses, spoken, shown, recorded, read back."""
    stream = HarmlessStream()
    pieces = [stream.push(piece) for piece in json.loads(data)]
    text = "".join((*pieces, stream.flush()))[:8_000]
    assert text == harmless(text)
    for code in CODES:
        spoken(text, code)
        split_clauses(text, complete=True, code=code)
    blocks(text)
    markdown.well_formed(text)
    markdown.for_any_reader(text)
    markdown.escaped(text)
    for end in range(0, len(text), max(1, len(text) // 7)):
        markdown.cut(text, end)
    line = to_json(e.OracleDelta(1.0, 1, text))
    assert line.encode() and read_event(line) == e.OracleDelta(1.0, 1, text)
    return ""


_CALLS = [
    {"name": "calculator", "arguments": {"expression": "2 + 2"}},
    {"name": "clock", "arguments": {"zone": "Europe/Berlin"}},
    {"name": "clock", "arguments": {}},
]


def _core(thought: str) -> str:
    """Without blanks and the name of a role, which may be left out between two messages."""
    return "".join(thought.split()).replace("assistant", "")


async def _filtered(data: bytes, folder: Path) -> str:
    """The same pieces as they come from a server: where they are divided makes no difference to the answer."""
    pieces: list[str] = json.loads(data)
    for thinks, unopened in ((False, False), (True, False), (False, None), (True, True)):
        whole, divided = (AnswerFilter(thinks=thinks, unopened=unopened) for _ in range(2))
        text = whole.push("".join(pieces)) + whole.flush()
        assert "".join([*map(divided.push, pieces), divided.flush()]) == text
        assert divided.over == whole.over and _core(divided.thought) == _core(whole.thought)
    return ""


async def _call(data: bytes, folder: Path) -> str:
    toolbox = Toolbox([Calculator(), Clock()])
    name, _, arguments = data.decode("utf-8", "surrogateescape").partition("\n")
    result = await toolbox.call(name, arguments)
    await toolbox.close()
    return "" if result.ok else harmless(result.text)


def _as_call(value: bytes) -> bytes:
    name = b"clock" if len(value) % 2 else b"calculator"
    return name + b"\n" + value


_SIGNS = (
    "1 22 333 .5 1e9 + - * / // ** % ( ) , of 15% +1% e pi sqrt( factorial( max( gcd( round( ! ^ × = x abs per cent"
).split()
_EXPRESSIONS = st.tuples(st.lists(st.sampled_from(_SIGNS), min_size=1, max_size=30), _TIMES).map(
    lambda drawn: ("".join(drawn[0]) * drawn[1])[:600].encode()
)


async def _calculate(data: bytes, folder: Path) -> str:
    toolbox = Toolbox([Calculator()])
    result = await toolbox.call("calculator", json.dumps({"expression": data.decode()}))
    await toolbox.close()
    return "" if result.ok else result.text


BOUNDARIES = (
    Boundary("model-text", _PIECES, _text),
    Boundary("thoughts", _PIECES, _filtered),
    Boundary("tool-call", json_bytes([call["arguments"] for call in _CALLS]).map(_as_call), _call),
    Boundary("calculator", _EXPRESSIONS, _calculate),
)
