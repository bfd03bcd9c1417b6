"""Takes thinking and dialogue tokens out of a model's streamed text.

Models write their thoughts between marks such as `<think>` and `</think>`, in many spellings, and some servers send
only the closing one. Templates leave tokens such as `<|im_end|>` in the text, which end the answer. Both are recognised
by their shape, not by a list. An answer may also speak about such marks. So a mark is only taken out where a model
would set one: not in code or quotation, not in the middle of a phrase, and after the first sentence only if the model
is known to think. What remains is the answer as it was written.
"""

from __future__ import annotations

import re
from typing import Literal

KEPT_LETTERS = 4_000
"""How much of the thinking is kept."""
LONGEST_MARK = 48
FIRST_WORDS = 25
"""A first sentence is over at the latest after so many words."""

_THINKING = (
    r"(?:(?:internal|hidden|private)[_▁ -])?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflect(?:ion)?|analysis|"
    r"scratchpad|ponder(?:ing)?|deliberation|"
    r"inner[_▁ -]?(?:monologue|thoughts?)|chain[_▁ -]of[_▁ -]thoughts?|cot)"
    r"(?:[_▁ -](?:process|steps?|trace|block))?"
)
_OPEN_BRACKET, _CLOSE_BRACKET = r"[<\[{◁【⟨《＜]{1,2}", r"\s?[>\]}▷】⟩》＞]{1,2}"
_SPACE = r"(?:[a-z][\w-]{0,20}:)?"  # a namespace
_BEGIN, _END = r"(?:begin|start)", r"end"
_OPENS = re.compile(
    rf"{_OPEN_BRACKET}[|｜]?{_SPACE}(?:{_BEGIN}[_▁ ]?(?:of[_▁ ])?)?(?:{_THINKING})(?:[_▁ ]{_BEGIN})?"
    rf"(?:\s[\w-]+=[^<>\[\]]{{0,30}})?[|｜]?{_CLOSE_BRACKET}",
    re.I,
)
_CLOSES = re.compile(
    rf"{_OPEN_BRACKET}(?:[|｜]?/[|｜]?{_SPACE}(?:{_THINKING})|[|｜]?{_END}[_▁ ]?(?:of[_▁ ])?(?:{_THINKING})"
    rf"|[|｜]?(?:{_THINKING})(?:[_▁ ]{_END}|\s?/))[|｜]?{_CLOSE_BRACKET}",
    re.I,
)
_TOKEN = re.compile(
    r"<[|｜][^<>|｜\n]{1,40}[|｜]>|</s>|<(?:start|end)_of_turn>|<(?:eos|bos|eot|eom|pad)>|\[/?INST\]|</?SYS>", re.I
)
_CHANNEL = re.compile(r"<\|channel\|?>", re.I)
_MESSAGE = re.compile(r"<\|message\|>", re.I)
_CHANNEL_NAME = re.compile(rf"<\|message\|>|\n|(?<=.{{{LONGEST_MARK}}})", re.I)
"""Behind a channel's name."""
_CHANNEL_CLOSES = re.compile(r"<channel\|>", re.I)
_BEGINS_TURN = re.compile(r"<\|im_start\|>|<\|start\|>|<start_of_turn>|<\|start_header_id\|>|\[INST\]|<｜User｜>", re.I)
_MAY_BE_MARK = re.compile(
    rf"{_OPEN_BRACKET}[|｜/]{{0,2}}(?:[a-zà-ÿ][\w:▁ ｜|=\"'/-]{{0,{LONGEST_MARK}}})?|<[|｜][^<>|｜\n]{{0,40}}[|｜]?",
    re.I,
)
_KINDS = (_OPENS, _CLOSES, _CHANNEL, _MESSAGE, _CHANNEL_CLOSES, _TOKEN)
_TELLS = re.compile(r"\s*\S+(?:\s|[.,;:!?])|\s*\S{12}|\s*[<\[{◁【⟨《＜][^>\]}▷】⟩》＞]{0,47}[>\]}▷】⟩》＞]")
"""What follows a mark, if it is enough to tell whether it is one."""
_ROLE = re.compile(r"\s*(?:assistant|model|user|system)\b:?\s*", re.I)
_SENTENCE = re.compile(r"(?:\S+\s+){2,}?\S*[.!?…][\"'”»)]*\s|\n\s*\S")
"""A first sentence of three words or more: behind “Sure.”, a model may still begin to think."""
_PHRASE_END = ".!?…)\"'”»"
_QUOTES = ("“", "„", "«", "‘", "‚")
_ABOUT = re.compile(
    r" (?:is|are|was|and|or|to|tags?|tokens?|marks?|markers?|elements?|blocks?|means?|opens?|starts?|begins?|closes?|"
    r"ends?|stands?|tells?|then|appears?|comes?|should|can|may|must|will|does|in|at|for|with|as|ist|und|oder|steht|"
    r"bedeutet)\b"
)
"""What follows a mark on which the answer says something."""
_LIKE_THOUGHT = re.compile(
    r"\s*(?:(?:okay|ok|alright|right|so|hmm+|well|now)[,.…\s]+)*"
    r"(?:the user\b|the question\b|user (?:asks|wants|says)|let me\b|let's\b|let us\b|hmm|wait|thinking process|"
    r"analysis(?=[A-Z])|analysis\s+(?:we|the user|user|need)\b|"
    r"i (?:need|have|should|must|will|can)\b|we (?:need|have|should|must|can)\b|first,? (?:i|we)\b|"
    r"here'?s (?:a|my) thinking|der nutzer\b|die frage\b|el usuario\b|l'utilisateur\b|l'utente\b)",
    re.I,
)
"""How thoughts begin."""
_STRIPPED = re.compile(r"\s*analysis(?![a-z]).*?assistant\s?final\s?", re.S)
"""Thoughts whose marks the server has taken out, so that only the names in them are left."""


def _is_heading(mark: str) -> bool:
    """Returns whether square brackets hold another word than those that models set for thinking: “[Analysis]”."""
    return mark[0] in "[{" and not re.match(r"[\[{]{1,2}/?(?:think|thought|/?inst)", mark, re.I)


State = Literal["held", "words", "thinking", "channel", "over"]


class AnswerFilter:
    """Call `push` for each delta, which may end inside a mark, and `flush` at the end.

    - `thinks`: whether the model is known to think in its text.
    - `unopened`: whether it is known to close thoughts that it hasn't opened; None if unknown. The first answer of such
      a model waits for the end of its first sentence.

    After the end, `closed_unopened` says whether a thought was closed that had not been opened.
    """

    def __init__(self, *, thinks: bool = False, unopened: bool | None = False) -> None:
        self.closed_unopened = False
        self.thought = ""
        self._thinks = thinks or bool(unopened)
        self._unopened = unopened
        self._state: State = "words" if unopened is False else "held"
        self._rest = ""  # not looked at yet
        self._held = ""  # may turn out to be thinking
        self._words = ""  # let through
        self._begun = self._first_over = False
        self._by_channel = False

    @property
    def thinking(self) -> bool:
        """Whether the newest delta ended in mid-thought."""
        return self._state in ("thinking", "channel")

    @property
    def over(self) -> bool:
        """Whether a token has ended the answer; the rest of the stream isn't part of it."""
        return self._state == "over"

    def push(self, delta: str) -> str:
        """Adds a delta; returns the text that is known to belong to the answer."""
        self._rest += delta
        return self._advance(last=False)

    def flush(self) -> str:
        """Returns the rest of the answer at the end of the stream."""
        text = self._advance(last=True)
        if self._state == "held":
            text += self._let_go()
        return text

    def broken_off(self) -> str:
        """Returns the text that is held back when the stream breaks off, unless it reads like a thought."""
        return self._let_go() if self._state == "held" and not _LIKE_THOUGHT.match(self._held) else ""

    # -- inner parts

    def _advance(self, *, last: bool) -> str:
        out: list[str] = []
        while self._rest and self._state != "over":
            found = _MAY_BE_MARK.search(self._rest)
            place = len(self._rest) if found is None else found.start()
            if place:
                out.append(self._take(self._rest[:place]))
                self._rest = self._rest[place:]
                continue
            mark = next(filter(None, (kind.match(self._rest) for kind in _KINDS)), None)
            if mark is None or _is_heading(mark[0]):
                if not last and _MAY_BE_MARK.fullmatch(self._rest):
                    break  # it may become one
                out.append(self._take(self._rest[:1]))
                self._rest = self._rest[1:]
                continue
            after = self._rest[mark.end() :]
            if not last and self._state != "thinking" and not _TELLS.match(after):
                break
            if not last and _CHANNEL.fullmatch(mark[0]) and not _CHANNEL_NAME.search(after):
                break
            out.append(self._mark(mark[0], after))
        if self._state == "over":
            self._rest = ""
        return "".join(out)

    def _mark(self, mark: str, after: str) -> str:
        """Handles what has the shape of a mark; returns the text that it adds to the answer."""
        self._rest = after
        if self._state == "thinking":
            if _CLOSES.fullmatch(mark) or _CHANNEL_CLOSES.fullmatch(mark):
                self._end_thinking()
            elif _CHANNEL.fullmatch(mark):
                self._open_channel()
            elif not self._by_channel:
                self._think(mark)
            return ""
        if self._literal(mark, after):
            return self._take(mark)
        if _CHANNEL.fullmatch(mark):
            self._open_channel()
            return ""
        if _OPENS.fullmatch(mark):
            if self._begun and self._first_over and not self._thinks:
                return self._take(mark)
            text = self._let_go() if self._state == "held" else ""
            self._state = "thinking"
            return text
        if _CLOSES.fullmatch(mark):
            return self._close_unopened(mark)
        if _MESSAGE.fullmatch(mark) or not (self._begun or self._held.strip()):
            self._rest = _ROLE.sub("", self._rest, count=1) if _BEGINS_TURN.fullmatch(mark) else self._rest.lstrip()
            return ""  # the head of the answer's own turn
        text = self._let_go() if self._state == "held" else ""
        self._state = "over"
        return text

    def _close_unopened(self, mark: str) -> str:
        self.closed_unopened = True
        if self._state == "held":
            self._think(self._held)
            self._held = ""
            self._end_thinking()
            return ""
        if self._thinks or not self._begun:
            self._rest = self._rest.lstrip()
            return ""
        return self._take(mark)

    def _literal(self, mark: str, after: str) -> bool:
        """Returns whether the answer speaks about a mark here rather than has one."""
        before = self._words + self._held
        line = before.rpartition("\n")[2]
        if before.count("```") % 2 or line.count("`") % 2 or line.count('"') % 2:
            return True
        if before[-1:] == "'" or before.rstrip(" \u00a0\u202f")[-1:] in _QUOTES:
            return True
        spaced = before[-1:] == " " or not before.strip()
        last = before.rstrip(" ")[-1:]
        if _ABOUT.match(after) or (spaced and last and re.match(r"[.,;:!?)]", after)):
            return True
        ends = not last or last == "\n" or last in _PHRASE_END
        if _OPENS.fullmatch(mark):
            return not (ends or last in ",:;" or after[:1] == "\n" or (after[:1] not in ("", " ") and not spaced))
        if _CLOSES.fullmatch(mark):
            return spaced and not ends and bool(re.match(r" [a-zà-ÿ]", after))
        return spaced and not ends and not _BEGINS_TURN.match(after.lstrip())

    def _open_channel(self) -> None:
        """A channel's name follows, up to the message or the line's end: only “final” is the answer."""
        end = _CHANNEL_NAME.search(self._rest)
        name = self._rest[: end.start()] if end else self._rest
        self._rest = self._rest[end.end() :] if end else ""
        self._by_channel = True
        self._state = "words" if name.strip().lower().startswith("final") else "thinking"

    def _end_thinking(self) -> None:
        self._state, self._by_channel = "words", False
        self._rest = self._rest.lstrip() if not self._begun else self._rest

    def _take(self, text: str) -> str:
        """Takes in text without marks; returns what belongs to the answer."""
        if self._state == "thinking":
            if not self._by_channel or text.strip().lower() not in ("assistant", ""):
                self._think(text)
            return ""
        if self._state == "held":
            self._held += text
            if stripped := _STRIPPED.match(self._held):
                self.closed_unopened = True
                self._think(stripped[0])
                rest, self._held = self._held[stripped.end() :], ""
                self._end_thinking()
                return self._pass(rest)
            waits = self._unopened or _LIKE_THOUGHT.match(self._held) or not self._is_sentence(self._held)
            return "" if waits else self._let_go()
        return self._pass(text)

    def _is_sentence(self, text: str) -> bool:
        lead = text.lstrip()
        return bool(_SENTENCE.match(lead)) or len(lead.split()) > FIRST_WORDS

    def _let_go(self) -> str:
        text, self._held, self._state = self._held, "", "words"
        return self._pass(text)

    def _pass(self, text: str) -> str:
        if not self._begun:
            text = text.lstrip()
            self._begun = bool(text.strip())
        self._words += text
        if self._begun and not self._first_over:
            self._first_over = self._is_sentence(self._words)
        return text

    def _think(self, text: str) -> None:
        self.thought = (self.thought + text)[:KEPT_LETTERS]
