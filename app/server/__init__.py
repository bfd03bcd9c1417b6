"""Serves conversations to clients of Moshi's protocol: Moshi's own clients, benches, and the front-end `remote`.

- `connection.py`: one client's connection: sound in, sound, words and events out.
- `served_talk.py`: a session with a client; it waits for one that the network has cut off, and keeps its events.
- `server.py`: listens, decides who may connect, and gives each client its session.

`app.frontend.remote.protocol` describes the messages.
"""
