"""The main window: builds all parts and connects them, starts and ends the application.

- `app.py`: the application and its event loop; `daemon_executor.py`: its threads; `start_report.py`: how long a start
  took
- `main_window.py`: builds the parts, lays them out and connects them
"""
