"""On-disk storage of conversations, which are kept until the user deletes them.

In reading order:

- `base`: the record types used by the window (a conversation's view, setup and talks).
- `store`: the asynchronous interface. `writer`: the thread that owns the database. `open_talk`: a talk that is still
  being written.
- `database` opens the file, `schema` creates its tables, `serialization` converts records to and from JSON.
- `queries` and `search` read the database, `packing` compresses talks, `erasing` securely deletes conversations.
- `rescue` copies the readable part of a damaged file into a new one, using the rows that `pages` finds.
- `export` writes a conversation to a file, using `markdown`, `subtitles`, `timing` and `sound`; `importing` does
  the reverse.

A talk is the stored form of one session. The session appends its events to the log returned by `HistoryStore.begin`.
The writer stores them as JSON lines, along with the turns derived from them and a search index over those turns.
`HistoryStore.talks` parses the lines back into events.
"""
