"""A child process in place of the embedded model's, which answers in OpenAI's protocol and dies as planned. Run it as a
module. `plan` is a file with a line for each start: "answers" for good; "dies at N" kills the process with request N
(the warm-up is 1); "breaks at N" kills it in the middle of that answer; "exits" ends with exit code 3 before it is
ready; "says WORDS" answers with these words. After the last line: "answers"."""

import json
import os
import signal
import sys
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path

from tests.support.servers import QuietHandler

WORDS = ("Paris", " is", " it.")


class _Handler(QuietHandler):
    protocol_version = "HTTP/1.1"
    life, number = "", 0

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        _Handler.number += 1
        if self.life == f"dies at {self.number}":
            os.kill(os.getpid(), signal.SIGKILL)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        said = self.life.removeprefix("says ")
        for word in WORDS if said == self.life else [f"{word} " for word in said.split()]:
            choice = {"index": 0, "delta": {"content": word}, "finish_reason": None}
            event = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "tiny", "choices": [choice]}
            self.send_chunk(f"data: {json.dumps(event)}\n\n".encode())
            if self.life == f"breaks at {self.number}":
                os.kill(os.getpid(), signal.SIGKILL)
        self.send_chunk(b"data: [DONE]\n\n")
        self.send_chunk(b"")


def main(plan: Path) -> int:
    lives = plan.read_text("utf-8").splitlines()
    plan.write_text("\n".join(lives[1:]), "utf-8")
    _Handler.life = lives[0] if lives else "answers"
    if _Handler.life == "exits":
        return 3
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"url": f"http://127.0.0.1:{server.server_address[1]}", "key": "none"}), flush=True)
    sys.stdin.buffer.read()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
