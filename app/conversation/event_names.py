"""Translates events that older versions of the app wrote into today's names, so that old recordings still open."""

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


def current_names(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON object of an event with the type and field names of this version."""
    fields = {FIELDS.get(name, name): value for name, value in fields.items()}
    kind = fields.get("type")
    if isinstance(kind, str):
        fields["type"] = TYPES.get(kind, kind)
    if fields.get("type") == "Failure" and fields.get("about") == "brain":
        fields["about"] = "backend"
    return fields
