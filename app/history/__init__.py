"""Conversations on disk: what was said and when, kept until the user removes it.

In reading order:

- `base`: what the window sees: a conversation's view, its setup, its talks, and the protocol of the service.
- `store`: the service itself. `writer`: the thread that owns the database; `open_talk`: a talk while it is written.
- `database` opens the file, `schema` makes its tables, `serialization` converts records to JSON and back.
- `queries` and `search` read it, `packing` compresses talks, `erasing` removes conversations without a trace.
- `rescue` takes what can be read from a damaged file into a new one, by the rows that `pages` finds in it.
- `export` writes a conversation to a file, with `markdown`, `subtitles`, `timing` and `sound`; `importing` reads one
  back.

A session puts its events into the log that `HistoryStore.begin` returns. The writer stores them as lines of JSON,
together with the turns that they make and a search index over these. `HistoryStore.talks` turns the lines into events
again.
"""
