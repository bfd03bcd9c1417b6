"""Builds the packages that users install; one commit always gives the same bytes.

- `source`: the files of the commit; `archives`, `payload`: reproducible archives and the installed program's files
- `tools`, `wheels`, `wheel`: uv, the locks' wheels, and the app's own wheel
- `linux_desktop`, `deb`, `selfextract`: the packages for Linux
- `windows_python`, `windows_programs`, `windows_installer`, `windows`, `signing`: the installers for Windows
- `bom`: the bill of materials
"""
