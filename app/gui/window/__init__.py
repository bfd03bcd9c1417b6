"""The main window: builds all parts and connects them, starts and ends the application.

- `app.py`: the application and its event loop; `daemon_executor.py`: its threads; `start_report.py`: how long a start
  took
- `parts.py`: makes the parts and lays them out; `main_window.py`: how they work together, and the window's life
"""
