"""Chooses a kind of question for each of the user's turns, so that the router can choose a back-end.

- `classifier`: how likely each kind is for a text, by a small table of weights.
- `policy`: which kind a turn counts as, decided again as its transcript grows, without flicker.

The words of a turn go to `RoutePolicy.decide`, which has `KindClassifier.scores` rate them and returns a `Route`. The
router (`app.backend.router`) looks its kind up in the user's table of back-ends.
"""
