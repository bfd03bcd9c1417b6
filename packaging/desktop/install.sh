#!/bin/sh
# Install KAME Desktop @VERSION@ for the current user, without root. The archive with the program follows this script.
set -eu
umask 022

usage() {
    cat <<END
sh $(basename "$0") [options]

  --help            show this
  --check           only check that this file is whole
  --target FOLDER   put the program there (default: $data/kame-desktop/program)
  --autostart       also start KAME Desktop when you log in
  --uninstall       remove an installed KAME Desktop; conversations, settings and weights stay
  --purge           with --uninstall: remove them, too

KAME Desktop is free software under the Apache License 2.0. What it fetches has licences of its own: Help > About.
END
}

fail() {
    echo "$1" >&2
    exit 2
}

data=${XDG_DATA_HOME:-$HOME/.local/share}
config=${XDG_CONFIG_HOME:-$HOME/.config}
cache=${XDG_CACHE_HOME:-$HOME/.cache}
state=${XDG_STATE_HOME:-$HOME/.local/state}
environment=${KAME_DESKTOP_ENVIRONMENT:-$data/kame-desktop/environment}
command=$HOME/.local/bin/kame-desktop
target=
check=no autostart=no uninstall=no purge=

while [ $# -gt 0 ]; do
    case "$1" in
        --help|-h) usage; exit 0 ;;
        --check) check=yes ;;
        --target) [ $# -gt 1 ] || fail "--target needs a folder behind it."; target=$2; shift ;;
        --autostart) autostart=yes ;;
        --uninstall) uninstall=yes ;;
        --purge) purge=--purge ;;
        *) usage >&2; exit 2 ;;
    esac
    shift
done

# Find an existing installation by its command, which contains its folder. Other commands have no such line.
installed=$(sed -n "s/^code='\(.*\)'\$/\1/p" "$command" 2>/dev/null || :)

if [ "$uninstall" = yes ]; then
    [ -n "$installed" ] && [ -f "$installed/uninstall.sh" ] ||
        fail "No KAME Desktop was found that this installer has put here. A Debian package is removed with apt."
    exec sh "$installed/uninstall.sh" $purge
fi

payload() {
    tail -c +@OFFSET@ "$0"
}

if ! command -v sha256sum >/dev/null 2>&1; then
    fail "The program sha256sum is missing, so the file can't be checked. Install the package coreutils."
fi
sum=$(payload | sha256sum | cut -d ' ' -f 1)
if [ "$sum" != @SHA256@ ]; then
    fail "This file is damaged or was not downloaded whole, so nothing was installed. Download it again."
fi
if [ "$check" = yes ]; then
    echo "This file is whole: KAME Desktop @VERSION@."
    exit 0
fi

[ "$(uname -s) $(uname -m)" = "Linux x86_64" ] ||
    fail "KAME Desktop needs Linux on a 64-bit x86 processor; this is $(uname -s) on $(uname -m)."
[ "$(id -u)" != 0 ] || [ -n "${KAME_DESKTOP_AS_ROOT-}" ] ||
    fail "This installs for one user, and you are root. Run it as the user who will talk, without sudo."

if [ -z "$installed" ] && { [ -e "$command" ] || [ -L "$command" ]; }; then
    fail "$command is there already and does not come from this installer, so nothing was installed. If it comes from
uv or pipx, remove it with “uv tool uninstall kame-desktop” or “pipx uninstall kame-desktop”; else move it away."
fi

whole() {
    realpath -m -- "$1"
}

# Whether the folder $1 is $2 or inside it.
lies_in() {
    case "$1/" in
        "$2"/*) return 0 ;;
        *) return 1 ;;
    esac
}

default=$(whole "$data/kame-desktop/program")
[ -z "$installed" ] || installed=$(whole "$installed")
target=$(whole "${target:-${installed:-$default}}")
case "$target" in
    *"'"*) fail "The folder's name must not have a ' in it. Choose another with --target." ;;
esac
for kept in "$HOME" "$command" "$data/applications" "$data/icons" "$environment" "$data/kame-desktop" \
    "$config/kame-desktop" "$cache/kame-desktop" "$state/kame-desktop"; do
    ! lies_in "$(whole "$kept")" "$target" ||
        fail "The program can't be put into $target, which is for other files: $kept. Choose another with --target."
done
for kept in "$environment" "$data/kame-desktop" "$config/kame-desktop" "$cache/kame-desktop" "$state/kame-desktop"; do
    [ "$target" = "$default" ] || ! lies_in "$target" "$(whole "$kept")" ||
        fail "The program can't be put into $kept, where your data are. Choose another folder with --target."
done
if [ -n "$installed" ] && [ "$installed" != "$target" ] && lies_in "$target" "$installed"; then
    fail "$target lies inside the installed KAME Desktop, which would be replaced. Choose another with --target."
fi
if [ -e "$target" ] && ! [ -f "$target/installed.json" ]; then
    if ! [ -d "$target" ] || [ -n "$(ls -A "$target")" ]; then
        fail "The folder $target is not empty and holds no KAME Desktop. Choose another with --target."
    fi
fi

# While the app or a set-up is running, files of the environment or the program are mapped into its process.
used=$(whole "$environment")
if grep -qsF -e "$used/" -e "$used." -e "${installed:-$target}/" -e "$target/" /proc/[0-9]*/maps; then
    fail "KAME Desktop is running, so nothing was installed. Quit it (Ctrl+Q in its window), then run this again."
fi

# Escape text for the replacement of sed's s command.
literally() {
    printf %s "$1" | sed 's/[\\&|]/\\&/g'
}

fill() {
    sed -e "s|@CODE@|'$(literally "$target")'|" -e "s|@COMMAND@|'$(literally "$command")'|" \
        -e "s|@EXEC@|$(literally "$command")|" "$1"
}

# Unpack next to the old program, which stays in place until the new one is complete.
parent=$(dirname "$target")
mkdir -p "$parent" && beside=$(mktemp -d "$parent/.kame-desktop-XXXXXX") ||
    fail "Nothing can be written to $parent, so nothing was installed. Choose another folder with --target."
clean_up() {
    if [ -e "$beside/old" ] && ! [ -e "$target" ]; then
        mv "$beside/old" "$target" || return
    fi
    rm -rf "$beside"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP
mkdir "$beside/new"
payload | tar -xzf - -C "$beside/new" || fail "The program could not be unpacked into $parent. Is the disk full?"
fill "$beside/new/desktop/kame-desktop.sh" > "$beside/new/kame-desktop"
fill "$beside/new/desktop/uninstall.sh" > "$beside/new/uninstall.sh"
chmod 755 "$beside/new/kame-desktop"
[ ! -e "$target" ] || mv "$target" "$beside/old" ||
    fail "The folder $target can't be replaced, so nothing was installed. Choose another with --target."
mv "$beside/new" "$target" ||
    fail "The new program could not be put into $target, so everything stays as it was. Try again."
if [ -n "$installed" ] && [ "$installed" != "$target" ] && [ -f "$installed/installed.json" ]; then
    rm -rf "$installed"
fi
clean_up
trap - EXIT INT TERM HUP

mkdir -p "$HOME/.local/bin" "$data/applications"
cp "$target/kame-desktop" "$command.new"
mv "$command.new" "$command"
fill "$target/desktop/@ID@.desktop" > "$data/applications/@ID@.desktop"
for icon in "$target"/desktop/icons/*/apps/*; do
    folder=$data/icons/hicolor/$(basename "$(dirname "$(dirname "$icon")")")/apps
    mkdir -p "$folder"
    cp "$icon" "$folder/"
done
if [ "$autostart" = yes ]; then
    mkdir -p "$config/autostart"
    cp "$data/applications/@ID@.desktop" "$config/autostart/"
fi
if command -v update-desktop-database >/dev/null 2>&1; then
    update-desktop-database -q "$data/applications" 2>/dev/null || :
fi

echo "KAME Desktop @VERSION@ is installed in $target."
"$command" --check-system || :
echo "Start it from the menu of programs, or type: $command"
echo "Its first start fetches about 0.5 GB of packages and models. To remove it: sh $target/uninstall.sh"
case ":$PATH:" in
    *":$HOME/.local/bin:"*) ;;
    *) echo "The folder $HOME/.local/bin is not on your PATH; most systems add it at the next login." ;;
esac
if [ -t 0 ] && [ -t 1 ]; then
    printf 'Set it up and start it now? [Y/n] '
    read -r answer || answer=n
    case "$answer" in
        ""|[Yy]*) exec "$command" ;;
    esac
fi
exit 0
