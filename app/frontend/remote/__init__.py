"""A front-end on another machine, reached by Moshi's server protocol.

- `protocol.py`: the messages of the protocol, and what our own server adds to it.
- `address.py`: the address of a server as users write it, and why a connection to it failed, in sentences.
- `playout.py`: what has come from the server and is still to be played, over a network that delays it.
- `connection.py`: the connection, which comes back when the network fails, and what the server sends over it.
- `frontend.py`: the front-end of a session that the server hears and speaks for.
"""
