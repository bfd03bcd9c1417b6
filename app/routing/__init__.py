"""Classification of the user's turns by kind of question, from which the router chooses a back-end.

- `classifier`: the probability of each kind for a text, from a small table of weights.
- `policy`: the kind that a turn counts as, re-evaluated without flicker as its transcript grows.

The words of a turn are passed to `RoutePolicy.decide`, which scores them with `KindClassifier.scores` and returns a
`Route`. The router (`app.backend.router`) looks up the back-end for that kind in the user's table.
"""
