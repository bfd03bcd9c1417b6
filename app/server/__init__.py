"""A voice server for Moshi's own clients, benchmarks and the `remote` front-end.

- `connection.py`: a client's connection, which receives audio and sends audio, words and events.
- `served_talk.py`: a session that survives a lost connection and buffers events until the client reconnects.
- `server.py`: accepts or rejects clients, and creates a session for each one.

The messages are documented in `app.frontend.remote.protocol`.
"""
