"""A front-end on another machine, reached by Moshi's server protocol.

- `protocol.py`: the messages of the protocol, and what our own server adds to it.
- `address.py`: the address of a server as users write it.
- `playout.py`: what has come from the server and is still to be played, over a network that delays it.
- `revisions.py`: the numbers of the server's revisions here.
- `incoming.py`: takes what the server sends, over all connections.
- `connecting.py`: opens a WebSocket.
- `connection.py`: the connection, which comes back when the network fails.
- `losses.py`: when to connect again after a loss, and when to give up.
- `explanations.py`: why it failed or ended, in sentences.
- `answer.py`: which turn is being answered, by the server's sound and words.
- `frontend.py`: the front-end of a session that the server hears and speaks for.
"""
