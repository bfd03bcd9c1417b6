"""Operating-system services: processes, files, hardware, and the single running instance. Standard library only.

- `files`: atomic writes, checks for file names that are reserved on Windows, and locks
- `installation`: how this copy was installed, and the location of its resources
- `children`: starts the app's child processes and restarts those that die
- `hardware`, `nvidia`: memory and processor; NVIDIA cards as reported by their driver
- `single_instance`: sends a command to the running app
- `autostart`: starts the app when the user logs in
- `standard_streams`, `cpp_runtime`: replaces missing standard streams; makes Microsoft's C++ runtime loadable
- `display`: explains why no window can open
- `local_time`: local dates for arbitrary timestamps

The only other app package that these modules import is `untrusted`, and some run before anything is installed.
"""
