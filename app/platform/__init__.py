"""Operating system services, based on the standard library only.

- `files`: atomic writes, checks for file names that are reserved on Windows, and locks
- `installation`: how this copy was installed, and the location of its resources
- `children`: starting child processes, and restarting those that die; `supervision`: when anything that failed is
  started again, and who may use the graphics card
- `hardware`, `nvidia`: memory and processor; NVIDIA cards as reported by their driver
- `single_instance`: sending commands to the running app
- `autostart`: starting the app when the user logs in
- `standard_streams`, `cpp_runtime`: replacing missing standard streams; making Microsoft's C++ runtime loadable
- `display`: detecting why no window can open
- `local_time`: local dates for arbitrary timestamps

These modules import no other package of the app except `untrusted`, and some run before anything is installed.
"""
