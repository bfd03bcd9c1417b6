"""The app's set-up, shared by bootstrap.py (for developers) and launcher.py (for users).

Since these modules run before anything is installed, they use only the standard library and support Python 3.8 and
later.

- `places`: the platform, and the paths of folders and files; `problems`: user-facing error messages
- `steps`: running tools, with their environment variables and log; `exclusion`: one set-up at a time
- `locks`, `stamp`: the required and the actual contents of an environment
- `environment`: finding a Python, creating its virtual environment, and installing uv in it
- `system_parts`: required system libraries and programs; `card`: NVIDIA graphics cards and the matching torch builds
- `handing_over`: starting the app
- `preparation`, `checks`: set-up and tests for bootstrap.py
- `provision`, `replacement`, `card_commands`, `reports`: set-up, upgrade, repair and progress reports for launcher.py
- `progress_window`: the progress window on Linux
- `running`, `user_path`: scripts for the Windows installer
"""
