"""The main window: builds all parts and connects them, starts and ends the application.

- `app.py`: the application and its event loop; `daemon_executor.py`: its threads; `start_report.py`: how long a start
  took
- `services.py`: what the window is given from outside
- `main_window.py`: builds the parts and lays them out; `wiring.py` connects them
- `session_view.py`: gives the session's events to the panes, in batches that `event_pump.py` collects
- `offers.py`: messages with a button, about models and graphics cards
- `system_parts.py`: the tray icon, the start at login, and new versions
- `quick_access.py`: the command palette and the sheet of keys, with what they are made from
- `first_start.py`: the cards that the welcome shows at the very first start
- `panels.py`: settings, log and other windows beside this one; `about_dialog.py`: the licences and the guide
"""
