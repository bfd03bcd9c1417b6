"""A server for conversations with Moshi's own clients, benchmarks and the `remote` front-end.

- `connection.py`: a client's connection: audio in; audio, words and events out.
- `served_talk.py`: a session with a client, which survives a lost connection and buffers events for a reconnect.
- `server.py`: accepts or refuses clients and assigns each one a session.

`app.frontend.remote.protocol` describes the messages.
"""
