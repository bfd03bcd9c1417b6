"""All boundaries of the app, one module for each kind of source."""

from tests.fuzz.boundaries import answers, files, hubs, model_words, tool_servers, voice, window_parts
from tests.fuzz.boundary import Boundary

BOUNDARIES: tuple[Boundary, ...] = (
    *answers.BOUNDARIES,
    *model_words.BOUNDARIES,
    *tool_servers.BOUNDARIES,
    *hubs.BOUNDARIES,
    *files.BOUNDARIES,
    *voice.BOUNDARIES,
    *window_parts.BOUNDARIES,
)
