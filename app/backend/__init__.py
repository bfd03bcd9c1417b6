"""Back-ends: the text language models that answer the user's questions, and who is asked for which question.

In reading order:

- `base`: a request, the items of a streamed answer, a back-end's traits, and the protocol that every back-end follows.
- `providers`: the providers by name, and `make_backend`, which makes one of their back-ends.
- `openai_compatible`, `openai_answer`, `openai_faults`, `dialect`: every server that speaks OpenAI's protocol (its
  connection, one answer, its errors, and the parameters that a model accepts).
- `ollama`, `ollama_answer`: the same for Ollama.
- `embedded`, `embedded_models`, `embedded_server`: a small model in a child process, reached by OpenAI's protocol.
- `attempts`, `deadlines`, `faults`, `thinking_tags`: what all of these share.
- `tool_calls`: runs the tools that a model requests in the middle of its answer.
- `router`: a back-end that chooses another one for each question. `prices`: what a request costs.
- `scripted`: a back-end for tests and demonstrations.

A `ChatRequest` goes to `Backend.stream`. The adapter puts it as the server expects it (`Dialect.body`), repeats it
where that helps (`AnswerAttempts`), and yields text, tool calls and token usage under deadlines. Every failure leaves
it as a `BackendError`, whose text is a sentence for the user. See README.md in this folder.
"""

from app.backend.providers import PROVIDERS, BackendSpec, find_spec, key_names, make_backend

__all__ = ["PROVIDERS", "BackendSpec", "find_spec", "key_names", "make_backend"]
