"""What all tests share: properties are searched the same way each time, and nothing of the user's is seen."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile

from hypothesis import settings

settings.register_profile("suite", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None)
settings.load_profile("suite")

if sys.platform != "win32":
    # Models that the user has fetched, and what was measured of them, would make other tests of these.
    os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp(prefix="kame-tests-")
    atexit.register(shutil.rmtree, os.environ["XDG_DATA_HOME"], ignore_errors=True)
