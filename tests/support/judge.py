"""A language model on loopback for benches: it answers by a rule, or judges answers by a rule, the same each time."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from typing import Any

from tests.support.servers import QuietHandler, running

Reply = Callable[[list[dict[str, str]]], str]
"""Makes the answer to the messages of a request."""


def fair(messages: list[dict[str, str]]) -> str:
    """Judges by how many words of the reference the last answer has: 10 for all of them, 1 for none."""
    text = messages[-1]["content"]
    answer = text.rpartition("[The assistant's answer")[2].partition("\n")[2].partition("\n[End")[0].lower().split()
    reference = text.rpartition("[Reference answer")[2].partition("\n")[2].partition("\n\n[")[0].lower().split()
    if "[Reference answer" not in text:
        return f"It has {len(answer)} words. [[{min(10, 1 + len(answer) // 4)}]]"
    share = sum(word in answer for word in reference) / max(1, len(reference))
    return f"{share:.2f} of the reference. Score: [[{round(1 + 9 * share)}]]"


def careless(messages: list[dict[str, str]]) -> str:
    """Likes everything."""
    return "Very good! [[9]]"


def brief(messages: list[dict[str, str]]) -> str:
    """Answers with the last words of the question."""
    return "I think it is " + " ".join(messages[-1]["content"].split()[-6:]).rstrip("?.") + "."


class _Handler(QuietHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_json(200, {"object": "list", "data": [{"id": "rule"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(body)  # type: ignore[attr-defined]
        text = self.server.reply(body["messages"])  # type: ignore[attr-defined]
        lines = [{"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}]}]
        lines.append({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}})
        events = "".join(f"data: {json.dumps(line)}\n\n" for line in lines)
        self.send(f"{events}data: [DONE]\n\n".encode(), "text/event-stream")


@contextmanager
def model_server(reply: Reply) -> Iterator[tuple[str, list[Any]]]:
    """Serves a model at a free port; yields its base URL and the requests that come."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.reply, server.requests = reply, []  # type: ignore[attr-defined]
    with running(server) as url:
        yield f"{url}/v1", server.requests  # type: ignore[attr-defined]
