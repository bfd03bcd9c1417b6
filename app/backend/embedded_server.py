"""The child process that runs the embedded language model: llama.cpp's server from the `xllamacpp` wheel.

It listens on a free port of the loopback interface and requires a random API key. It reports its URL and the key to
its parent as one line of JSON on standard output. It exits when its standard input closes, so it never outlives its
parent.
"""

from __future__ import annotations

import os
import secrets
import sys

from app.platform.children import answers_of_child, send_line


def main(argv: list[str]) -> int:
    """Serves the GGUF file `argv[0]` with `argv[1]` threads and `argv[2]` parallel requests until stdin closes.

    `argv[3]`, if given, replaces the file's chat template.
    """
    # Slightly lower priority than the frame loop and the voice. With a niceness of 15, the app's other work occupied
    # both cores while an answer was due, and the first word took 0.30 s instead of 0.18 s on an idle machine.
    answers = answers_of_child(3)
    import xllamacpp

    key = secrets.token_urlsafe(16)
    params = xllamacpp.CommonParams()
    params.model.path = argv[0]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(argv[1])
    params.n_parallel = int(argv[2])
    params.n_ctx = 2048 * params.n_parallel  # shared by the parallel requests
    params.cache_ram_mib = 0  # by default, every prompt is cached, up to 8 GB
    if len(argv) > 3:
        params.chat_template, params.use_jinja = argv[3], True
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]
    server = xllamacpp.Server(params)
    send_line(answers, {"url": server.listening_address, "key": key})
    sys.stdin.buffer.read()
    os._exit(0)  # skips joining the engine's threads; nothing needs saving


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
