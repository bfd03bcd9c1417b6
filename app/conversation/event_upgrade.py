"""Rewrites the events of older versions of the app into today's form, so that old recordings still open."""

from __future__ import annotations

from typing import Any

TYPES = {
    "AsideChanged": "SecondaryChanged",
    "AssistantMended": "AssistantCorrected",
    "AssistantWentOn": "AssistantResumed",
    "BrainRouted": "BackendRouted",
    "ContextBegunAnew": "ContextRestarted",
    "ConversationSet": "ConversationConfigured",
    "MannerChanged": "AnswerModeChanged",
    "SpeechShed": "RecognitionSkipped",
}
"""Old event types and what they are called now."""

FIELDS = {"aside": "secondary", "manner": "answer_mode"}
"""Old field names, in events of any type."""

_NUMBERS = ("revision", "by")
"""Fields that hold the number of a revision."""


def current_names(fields: dict[str, Any]) -> dict[str, Any]:
    """Returns the JSON object of an event with the type and field names of this version."""
    fields = {FIELDS.get(name, name): value for name, value in fields.items()}
    kind = fields.get("type")
    if isinstance(kind, str):
        fields["type"] = TYPES.get(kind, kind)
    if fields.get("type") == "Failure" and fields.get("about") == "brain":
        fields["about"] = "backend"
    return fields


class EventUpgrade:
    """Rewrites the JSON objects of one session's events, given in order; events of today stay as they are.

    A revision keeps its number when it is handed over. Older versions gave it a new one: `OracleHandedOver` named both
    numbers, and the old one's end, a second request and the text so far under the new number followed. These
    duplicates are left out, and the new number becomes the old one everywhere.
    """

    def __init__(self) -> None:
        self._number: dict[int, int] = {}  # by the number after a hand-over: the number for life
        self._handed: set[int] = set()  # the numbers for life of those
        self._spoke: set[int] = set()
        self._ended: set[int] = set()

    def apply(self, fields: dict[str, Any]) -> dict[str, Any] | None:
        """Returns the object in today's form, or None if it repeats what earlier events have said."""
        fields = current_names(fields)
        kind, number = fields.get("type"), fields.get("revision")
        if not isinstance(number, int):
            return fields
        if kind == "OracleHandedOver" and isinstance(fields.get("of"), int):
            number = fields.pop("of")
            self._number[fields["revision"]] = number
            self._handed.add(number)
            return {**fields, "revision": number}
        for name in _NUMBERS:
            if isinstance(fields.get(name), int):
                fields[name] = self._number.get(fields[name], fields[name])
        return None if self._repeats(kind, number) else fields

    def _repeats(self, kind: Any, number: int) -> bool:
        """Whether the event of this kind and original number only repeats something."""
        if number in self._number:  # the new number of a revision that was handed over
            old = self._number[number]
            if kind == "OracleDelta" and old in self._spoke:
                self._spoke.discard(old)  # the text so far; what follows is new
                return True
            return kind == "OracleRequested" or (kind == "OracleEnded" and old in self._ended)
        if kind == "OracleDelta":
            self._spoke.add(number)
        elif kind == "OracleEnded":
            if number in self._handed:
                return True
            self._ended.add(number)
        return False
