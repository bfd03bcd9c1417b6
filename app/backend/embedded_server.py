"""The child process that runs the embedded language model: llama.cpp's server from the wheel `xllamacpp`.

Listens only on loopback, at a free port and with a random key. It writes both to its parent as one line of JSON on
standard output, and ends when its standard input closes, so it never outlives its parent.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sys


def main(argv: list[str]) -> int:
    """Serves the GGUF file `argv[0]` with `argv[1]` threads until standard input ends, `argv[2]` requests at a time.

    `argv[3]`, if given, is a chat template to use instead of the file's own.
    """
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # llama.cpp prints there
    with contextlib.suppress(OSError, AttributeError):
        # After the frame loop and the voice, and only just: at 15 it lost both cores to whatever the app does besides
        # while an answer is due, and its first word took 0.30 s instead of 0.18 s on an idle machine.
        os.nice(3)
    import xllamacpp

    key = secrets.token_urlsafe(16)
    params = xllamacpp.CommonParams()
    params.model.path = argv[0]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(argv[1])
    params.n_parallel = int(argv[2])
    params.n_ctx = 2048 * params.n_parallel  # which they share
    params.cache_ram_mib = 0  # otherwise it caches every prompt, up to 8 GB
    if len(argv) > 3:
        params.chat_template, params.use_jinja = argv[3], True
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [key]
    server = xllamacpp.Server(params)
    out.write(json.dumps({"url": server.listening_address, "key": key}) + "\n")
    out.flush()
    sys.stdin.buffer.read()
    os._exit(0)  # without waiting for the engine's threads; nothing is on disk


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
