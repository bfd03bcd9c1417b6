#!/bin/sh
# Remove the KAME Desktop installed by the self-extracting installer. Keeps conversations, settings and weights, unless
# --purge is given or the user answers the question with yes.
set -eu

code=@CODE@
command=@COMMAND@
data=${XDG_DATA_HOME:-$HOME/.local/share}
config=${XDG_CONFIG_HOME:-$HOME/.config}
cache=${XDG_CACHE_HOME:-$HOME/.cache}
environment=${KAME_DESKTOP_ENVIRONMENT:-$data/kame-desktop/environment}
id=org.kame_desktop.KameDesktop

purge=no
case "${1-}" in
    --purge) purge=yes ;;
    "") ;;
    *) echo "usage: $0 [--purge]" >&2; exit 2 ;;
esac

# While the app or a set-up is running, files of the environment or the program are mapped into its process.
used=$(realpath -m -- "$environment")
if grep -qsF -e "$used/" -e "$used." -e "$code/" /proc/[0-9]*/maps; then
    echo "KAME Desktop is running, so nothing was removed. Quit it (Ctrl+Q in its window), then try again." >&2
    exit 2
fi

if [ "$purge" = no ] && [ -t 0 ] && [ -t 1 ]; then
    echo "Conversations, recordings, settings and downloaded weights are kept. Remove them too?"
    printf 'Type "yes" to remove them, anything else to keep them: '
    read -r answer || answer=
    [ "$answer" = yes ] && purge=yes
fi

"$code/kame-desktop" remove-environment || echo "The environment with the app's packages could not be removed; see above." >&2
if grep -qsxF "code='$code'" "$command"; then
    rm -f "$command"
fi
rm -f "$data/applications/$id.desktop" "$config/autostart/$id.desktop"
for icon in "$data"/icons/hicolor/*/apps/kame-desktop.svg "$data"/icons/hicolor/*/apps/kame-desktop.png; do
    rm -f "$icon"
done
rm -rf "$cache/kame-desktop/python"
if command -v update-desktop-database >/dev/null 2>&1; then
    update-desktop-database -q "$data/applications" 2>/dev/null || :
fi

if [ "$purge" = yes ]; then
    rm -rf "$data/kame-desktop" "$config/kame-desktop" "$cache/kame-desktop" \
        "${XDG_STATE_HOME:-$HOME/.local/state}/kame-desktop"
fi
rm -rf "$code"
rmdir "$data/kame-desktop" "$cache/kame-desktop" 2>/dev/null || :
if [ "$purge" = yes ]; then
    echo "KAME Desktop and all its data were removed. API keys that you gave it are still in the system's keyring."
else
    echo "KAME Desktop was removed. Kept: $data/kame-desktop and $config/kame-desktop, where they exist."
fi
