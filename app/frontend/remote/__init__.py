"""A front-end on another machine, reached via Moshi's server protocol.

- `protocol.py`: the messages of the protocol, and the extensions of our own server.
- `address.py`: server addresses as typed by users, and messages explaining why a connection failed.
- `playout.py`: the jitter buffer for audio, words and events from the server.
- `connection.py`: the connection, which reconnects after network failures and handles incoming messages.
- `frontend.py`: the front-end of a session in which the server listens and speaks.
"""
