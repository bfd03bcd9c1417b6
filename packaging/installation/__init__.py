"""Sets the app up: shared by bootstrap.py, for developers, and launcher.py, for users.

These modules use the standard library only and run on Python 3.8 and newer: they run before anything is installed.

- `places`: the system, folders and files; `problems`: user-facing messages
- `steps`: runs tools, with their environment variables and their log; `exclusion`: one set-up at a time
- `locks`, `stamp`: the required and the actual contents of an environment
- `environment`: a Python, its virtual environment and the package tool in it
- `system_parts`: libraries and programs of the system; `card`: an NVIDIA card, and its build of torch
- `handing_over`: the start of the app
- `preparation`, `checks`: bootstrap.py's set-up and tests
- `provision`, `replacement`, `card_commands`, `reports`: launcher.py's set-up, upgrade and repair, and their progress
- `progress_window`: the progress in a window on Linux
- `running`, `user_path`: scripts for the Windows installer
"""
