"""Reproducible builds of the packages that users install.

- `source`: the files of the commit; `archives`, `payload`: reproducible archives, and the files to install
- `tools`, `wheels`, `wheel`: uv, the locked wheels, and the app's own wheel
- `linux_desktop`, `deb`, `selfextract`: the Linux packages
- `windows_python`, `windows_programs`, `windows_installer`, `windows`, `signing`: the Windows installers
- `bom`: the bill of materials
"""
