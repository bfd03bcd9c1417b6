"""The machine under the app: processes, files, hardware, and the single running instance. Standard library only.

- `files`: files that are written whole or not at all, names that Windows reserves, and locks
- `installation`: how this copy was installed, and where its resources are
- `children`: child processes of the app's own, and how those that die are restarted
- `hardware`, `nvidia`: memory and processor; NVIDIA cards by their driver
- `single_instance`: sends a command to the running app
- `autostart`: starts the app when the user logs in
- `standard_streams`, `cpp_runtime`: makes missing streams and Microsoft's C++ runtime available
- `local_time`: local dates for any moment

These modules import nothing else of the app but `untrusted`, and some run before anything is installed.
"""
