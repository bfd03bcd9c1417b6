"""Classification of the user's turns by kind of question, on which the router's choice of a back-end is based.

- `classifier`: computes the probability of each kind for a text, using a small table of weights.
- `policy`: decides on the kind of a turn as its transcript grows, with hysteresis.

`RoutePolicy.decide` takes a turn's transcript, calls `KindClassifier.scores` and returns a `Route`. The router
(`app.backend.router`) looks up the back-end for that kind in the user's routing table.
"""
