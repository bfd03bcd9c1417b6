"""The child process that computes a language model's predictions of what follows a user's words.

It writes a line when it is ready. It then reads sentences from standard input, one JSON line each, and replies to each
with two log-odds (see `WordOdds`) on standard output, until its standard input closes. The model runs on `xllamacpp`,
as in the embedded back-end, and the OS keeps only one copy of the model file in memory for both.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import sys
from typing import Any

from app.platform.children import answers_of_child, send_line

EXAMPLES = (
    ("I have three apples and eat one. How many are left?", "Two."),
    ("It's been snowing here all morning.", "Then dress warmly."),
    ("Explain how a bridge carries its load, and give an example.", "It passes it on to the ground, as an arch does."),
    ("I need a train to Leeds on Friday.", "In the morning or the evening?"),
    ("In the evening, please.", "There is one at six."),
    ("My sister works for a company called Brightwater.", "What do they make?"),
    ("What's the capital of Norway", "Oslo."),
    ("So, um, my brother is coming on Friday, what should I cook for him?", "A roast."),
)
"""Few-shot turns that precede the turn to score. They show the model how people ask questions aloud, that statements
may come first, and that a statement or an answer can be a complete turn. With questions only, the ROC AUC of the sum of
both odds was 0.73 on the pauses in 200 sentences by real callers and 0.967 on synthetic questions; with these examples
it is 0.775 and 0.972. The model processes them only once."""
ASKED = (
    "".join(
        f"<|im_start|>user\n{user}<|im_end|>\n<|im_start|>assistant\n{reply}<|im_end|>\n" for user, reply in EXAMPLES
    )
    + "<|im_start|>user\n"
)
END_TOKEN = 2
"""`<|im_end|>` in the SmolLM2 family."""
QUESTION_MARKS = ("?", "?\n", '?"', "?'", " ?")
STOPS = (".", "!", ".\n", '."')
BREAKS = ("\n", "\n\n")
"""A newline also counts as the end, since many of the model's training texts continue with one."""
LOOKED_AT = 100
"""Number of most likely tokens considered; 400 would take 10 ms longer."""
LEAST_CLOSE, LEAST_OVER = -8.0, -6.0
LONGEST, STEP = 400, 200
"""At most `LONGEST` characters at the end of the text are evaluated, and the start of this range moves in steps of
`STEP`. Texts with the same start can reuse the prompt cache, which would be impossible if the start moved with every
word."""


def main(argv: list[str]) -> int:
    """Serves requests with the GGUF model `argv[0]` until standard input closes."""
    answers = answers_of_child(5)  # lower priority than the frame loop, the voice and the answer
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = argv[0]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.n_parallel = 1
    params.n_ctx = 896  # the examples (230), and at worst one token per character
    params.cache_ram_mib = 0  # by default, the state of every text is cached, up to 8 GB
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [secrets.token_urlsafe(16)]
    server = xllamacpp.Server(params)
    send_line(answers, {"ready": odds(server, "Hello")})  # the first request processes the examples
    for line in sys.stdin.buffer:
        send_line(answers, odds(server, str(json.loads(line))))
    os._exit(0)  # skips joining the engine's threads; nothing needs saving


def odds(server: Any, text: str) -> tuple[float, float]:
    """Returns the log-odds that `text` is followed by a closing mark or the end, and that the end follows that mark."""
    text = last_part(text)
    asks, stops, ends = _next(server, text)
    after = _next(server, text + ("?" if asks >= stops else "."))[2]
    return max(LEAST_CLOSE, _log_odds(asks + stops + ends)), max(LEAST_OVER, _log_odds(after))


def last_part(text: str) -> str:
    """Returns the part of `text` to evaluate: whole words at its end, at most `LONGEST` characters."""
    skipped = -(-max(0, len(text) - LONGEST) // STEP) * STEP
    return text[skipped:].partition(" ")[2] if skipped else text


def _next(server: Any, text: str) -> tuple[float, float, float]:
    """Returns the probabilities that a question mark, another closing mark, or the end of the turn comes next."""
    request = {"prompt": ASKED + text, "n_predict": 1, "n_probs": LOOKED_AT, "temperature": 0}
    reply = server.handle_completions({**request, "cache_prompt": True})
    likely = reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
    asks = stops = ends = 0.0
    for token in likely:
        share = math.exp(token["logprob"])
        if token["id"] == END_TOKEN or token["token"] in BREAKS:
            ends += share
        elif token["token"] in QUESTION_MARKS:
            asks += share
        elif token["token"] in STOPS:
            stops += share
    return asks, stops, ends


def _log_odds(share: float) -> float:
    share = min(0.9999, share)
    return math.log((share + 1e-6) / (1 - share + 1e-6))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
