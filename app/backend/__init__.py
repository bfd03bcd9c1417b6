"""Back-ends: the language models that answer the user's questions, and the router that picks one per question.

In reading order:

- `base`: a request, the items of a streamed answer, a back-end's traits, and the protocol every back-end implements.
- `providers`: the providers by name, and `make_backend`, which creates a back-end.
- `openai_compatible`, `openai_answer`, `openai_faults`, `dialect`: any server that speaks OpenAI's protocol (the
  connection, one answer, its errors, and the parameters that a model accepts).
- `ollama`, `ollama_answer`: the same for Ollama.
- `embedded`, `embedded_models`, `embedded_server`: a small model in a child process, accessed via OpenAI's protocol.
- `attempts`, `deadlines`, `faults`, `thinking_tags`: code shared by the above.
- `tool_calls`: runs the tools that a model requests mid-answer.
- `router`: a back-end that picks another one for each question. `prices`: the cost of a request.
- `scripted`: a back-end for tests and demos.

A `ChatRequest` goes to `Backend.stream`. The adapter converts it to the form the server expects (`Dialect.body`),
retries it where that helps (`AnswerAttempts`), and yields text, tool calls and token usage under deadlines. Every
failure is raised as a `BackendError`, whose text is a user-facing message. See README.md in this folder.
"""

from app.backend.providers import PROVIDERS, BackendSpec, find_spec, key_names, make_backend

__all__ = ["PROVIDERS", "BackendSpec", "find_spec", "key_names", "make_backend"]
