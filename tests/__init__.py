"""The tests. The app is imported first, since it sets the environment of the numeric libraries."""

import app  # noqa: F401
