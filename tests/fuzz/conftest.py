"""The fuzzer's window parts need Qt, but no screen."""

import os

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
