"""Serves conversations to clients of Moshi's protocol: Moshi's own clients, benches, and the front-end `remote`.

- `admission.py`: who may connect.
- `connection.py`: one client's connection: sound in, sound, words and events out.
- `event_log.py`: the newest events of a session, for a client that comes back.
- `served_talk.py`: a session that is held with a client, and waits a while for one that the network has cut off.
- `server.py`: listens, and gives each client its session.

`app.frontend.remote.protocol` describes the messages.
"""
