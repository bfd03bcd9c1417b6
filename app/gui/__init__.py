"""The window (PySide6): it sends commands to a session and shows its events.

From the bottom up; a folder imports only from those above it in this list:

- `design`: colours, sizes, typefaces, icons and motion; `widgets`: controls that all of the window uses
- `state`: what the session should be, and what it is: one writer, observed by views and controllers
- `cards`: the columns of cards in transcript and oracle
- `transcript`, `oracle`, `hotkeys`, `prices`, `tools`: turns, revisions, global keys, prices, tool servers
- `palette`: the command palette, and the sheet of all keys; `desktop`: the tray
- `sound`, `models`: devices; models, servers and downloads
- `shell`: menus, pickers, messages and the status line
- `conversations`, `settings`, `mini`: panes, dialogs and the mini window; `inspector`: timeline, latency and requests
- `controllers`: between all of these and the session
- `first_run`, `demo`, `logs`: the first start, the guided demo, the log
- `window`: the main window, and the application
"""

import builtins

import PySide6.QtCore  # noqa: F401

# PySide replaces `import` in the whole process with a function that reads the source of each imported module: it looks
# for a feature that this app doesn't use. While several threads import, as at the start of a session, that can fail:
# pydantic, whose modules import others when they are inspected, then reports a circular import.
builtins.__import__ = getattr(builtins, "__orig_import__", builtins.__import__)
