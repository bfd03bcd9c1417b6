"""Which operating system this is."""

from __future__ import annotations

import os
import sys

WINDOWS = os.name == "nt"
LINUX = sys.platform.startswith("linux")
