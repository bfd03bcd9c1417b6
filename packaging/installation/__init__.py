"""Sets the app up: shared by bootstrap.py, for developers, and launcher.py, for users.

These modules use the standard library only and run on Python 3.8 and newer: they run before anything is installed.

- `system`, `places`, `installed_places`, `files`, `variables`: the system, folders, files and environment variables
- `problems`, `steps`, `reports`, `children`: what users are shown, and the tools that run meanwhile
- `locks`, `sizes`, `variants`, `stamp`, `exclusion`: what is to be installed, what is installed, one set-up at a time
- `pythons`, `environment`, `setup`, `packages`: a Python, its virtual environment, and the packages in it
- `package_managers`, `system_parts`, `completion`, `system_check`: missing libraries of the system
- `app_modules`, `card`, `card_packages`, `card_check`, `torch_builds`: an NVIDIA card, and its build of torch
- `preparation`, `checks`, `command`, `resolution`: bootstrap.py's set-up, tests, command and locks
- `provision`, `fetching`, `readiness`, `replacement`, `integrity`, `card_commands`: launcher.py's set-up, upgrade
  and repair
- `handing_over`, `restart`: the start of the app
- `progress_window`, `progress_views`: the progress in a window on Linux
- `running`, `user_path`: scripts for the Windows installer
"""
