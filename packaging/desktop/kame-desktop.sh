#!/bin/sh
# Start KAME Desktop: from a menu, with a progress window if it has to be set up; in a terminal, with its arguments.
code=@CODE@

# Python's bytecode goes to the user's cache if the program belongs to a system package or its folder is read-only.
compiled=
if [ "${code#/usr/}" != "$code" ] || ! [ -w "$code" ]; then
    compiled=${PYTHONPYCACHEPREFIX:-${XDG_CACHE_HOME:-$HOME/.cache}/kame-desktop/python}
    export PYTHONPYCACHEPREFIX="$compiled"
fi

# A global hotkey was pressed, so be fast. The environment exists, since the window is already running.
environment=${KAME_DESKTOP_ENVIRONMENT:-${XDG_DATA_HOME:-$HOME/.local/share}/kame-desktop/environment}
if [ "${1-}" = ptt ] && [ -x "$environment/bin/python" ]; then
    exec "$environment/bin/python" -P -m app "$@"
fi

program=$code/packaging/launcher.py
if [ "${1-}" = --check-system ]; then
    program=$code/packaging/installation/system_parts.py
elif [ $# -eq 0 ] && ! [ -t 1 ] && [ -n "$DISPLAY$WAYLAND_DISPLAY" ]; then
    program=$code/packaging/installation/progress_window.py
fi

if python3 -sE -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null; then
    # -E makes Python ignore the variable set above.
    exec python3 -sE ${compiled:+-X "pycache_prefix=$compiled"} "$program" "$@"
fi
exec "$code/tools/uv" run --quiet --no-project --python 3.12 "$program" "$@"
