"""Back-ends: the language models that answer the user's questions.

In reading order:

- `base`: requests, the items of a streamed answer, a back-end's traits, and the protocol that every back-end
  implements.
- `providers`: the table of providers, and the factory `make_backend`.
- `openai_compatible`, `openai_answer`, `openai_faults`, `dialect`: the adapter for servers with an OpenAI-compatible
  API (respectively: the connection, one answer, its errors, and the parameters that a model accepts).
- `ollama`, `ollama_answer`: the adapter for Ollama.
- `embedded`, `embedded_models`, `embedded_server`: a small model in a child process, accessed via an OpenAI-compatible
  API.
- `attempts`, `deadlines`, `faults`: code shared by the adapters.
- `model_record`: what is known of each model on each server.
- `tool_calls`: executes the tool calls that a model makes mid-answer.
- `prices`: the cost of a request.
- `scripted`: a back-end for tests and demos.

`Backend.stream` takes a `ChatRequest`. The adapter converts it to the server's format (`dialect.request_body`), retries
it if that may help (`AnswerAttempts`), and yields text, tool calls and token usage, subject to deadlines. Every failure
is raised as a `BackendError`, whose text is a user-facing message. See README.md in this folder.
"""

from app.backend.providers import PROVIDERS, BackendSpec, find_spec, key_names, make_backend

__all__ = ["PROVIDERS", "BackendSpec", "find_spec", "key_names", "make_backend"]
