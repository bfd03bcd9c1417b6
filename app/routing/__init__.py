"""Classifies the user's turns by kind of question, so that the router can choose a back-end for each.

- `classifier`: computes the probability of each kind for a text, using a small table of weights.
- `policy`: determines a turn's kind as its transcript grows, with hysteresis.

`RoutePolicy.decide` takes a turn's transcript, calls `KindClassifier.scores` and returns a `Route`. The router
(`app.backend.router`) looks up the back-end for that kind in the user's routing table.
"""
