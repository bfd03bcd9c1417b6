"""Hotkeys without a screen: valid keys, the manager, Windows by a fake, Wayland by a real message bus."""

import contextlib
import ctypes
import gc
import queue
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.gui.hotkeys.hotkey import Grabber, Hotkey, HotkeyRefused, read_hotkey
from app.gui.hotkeys.manager import Hotkeys, platform_kind
from app.gui.hotkeys.windows import ALREADY_REGISTERED, NO_REPEAT, User32, WindowsHotkeys

on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a desktop's portal")


class Heard:
    def __init__(self, hotkeys: Hotkeys) -> None:
        self.words: list[str] = []
        self.failures: list[str] = []
        self.granted: dict[str, str] = {}
        hotkeys.talk_pressed.connect(lambda: self.words.append("talk"))
        hotkeys.talk_released.connect(lambda: self.words.append("let go"))
        hotkeys.mute_pressed.connect(lambda: self.words.append("mute"))
        hotkeys.failed.connect(self.failures.append)
        hotkeys.granted.connect(lambda name, words: self.granted.update({name: words}))


class FakeGrabber(Grabber):
    def __init__(self) -> None:
        super().__init__()
        self.bound: list[dict[str, str]] = []
        self.closed = 0

    def bind(self, keys: Mapping[str, Hotkey]) -> None:
        self.bound.append({name: key.text for name, key in keys.items()})

    def close(self) -> None:
        self.closed += 1


Grabbed = tuple[FakeGrabber, Hotkeys, Heard]


@pytest.fixture
def grabbed() -> Grabbed:
    grabber = FakeGrabber()
    hotkeys = Hotkeys(make=lambda: grabber)
    return grabber, hotkeys, Heard(hotkeys)


# -- what can be a hotkey


@pytest.mark.parametrize(
    ("text", "modifiers", "name", "character"),
    [
        ("Ctrl+Alt+Space", {"ctrl", "alt"}, "space", ""),
        ("Meta+Shift+1", {"meta", "shift"}, "", "1"),
        ("Ctrl+ä", {"ctrl"}, "", "ä"),
        ("Shift+F24", {"shift"}, "F24", ""),
        ("Media Play", set(), "XF86AudioPlay", ""),
        ("Ctrl+Shift+C", {"ctrl", "shift"}, "", "c"),
    ],
)
def test_keys_that_can_be_hotkeys(text: str, modifiers: set[str], name: str, character: str) -> None:
    key = read_hotkey(text)
    assert (key.modifiers, key.name, key.character) == (modifiers, name, character)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Space", "every program"),
        ("Shift+A", "every program"),
        ("Ctrl+K, Ctrl+C", "not one key"),
        ("Ctrl+Alt", "can't be a hotkey"),
        ("Ctrl+Num+5", "number pad"),
        ("Ctrl+Ж", "can't be a hotkey"),
        *((f"Ctrl+{key}", "needed in every program") for key in ("C", "X", "V", "Z", "A", "S", "Q", "W", "Tab")),
        *((text, "needed in every program") for text in ("Alt+F4", "Alt+Tab", "Ctrl+Alt+Del")),
    ],
)
def test_keys_that_cannot_be_hotkeys(text: str, why: str) -> None:
    with pytest.raises(HotkeyRefused, match=why):
        read_hotkey(text)


# -- the manager


@pytest.mark.parametrize(
    ("system", "qt", "environment", "kind"),
    [
        ("win32", "windows", {}, "windows"),
        ("win32", "offscreen", {}, ""),
        ("linux", "offscreen", {"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}, ""),
        ("linux", "xcb", {"XDG_SESSION_TYPE": "x11", "WAYLAND_DISPLAY": "wayland-0"}, "x11"),
        ("linux", "xcb", {"WAYLAND_DISPLAY": "wayland-0"}, "portal"),
        ("linux", "wayland", {"XDG_SESSION_TYPE": "x11"}, "portal"),
        ("darwin", "cocoa", {}, ""),
    ],
)
def test_the_platform(system: str, qt: str, environment: dict[str, str], kind: str) -> None:
    assert platform_kind(system, qt, environment) == kind


def test_a_refused_key_is_reported_and_the_other_still_bound(grabbed: Grabbed) -> None:
    grabber, hotkeys, heard = grabbed
    hotkeys.set_keys("A", "Ctrl+L")
    assert grabber.bound == [{"mute": "Ctrl+L"}]
    assert len(heard.failures) == 1 and "every program" in heard.failures[0]
    hotkeys.set_keys("Ctrl+L", "Ctrl+L")
    assert grabber.bound[-1] == {"talk": "Ctrl+L"} and "both" in heard.failures[-1]


def test_closing_releases_keys_and_reports_no_more(grabbed: Grabbed) -> None:
    grabber, hotkeys, heard = grabbed
    hotkeys.set_keys("Ctrl+K", "Ctrl+L")
    grabber.pressed.emit("talk")
    hotkeys.close()
    grabber.pressed.emit("talk")
    grabber.failed.emit("", "Gone.")
    hotkeys.set_keys("Ctrl+J", "")
    assert heard.words == ["talk", "let go"] and heard.failures == []
    assert grabber.closed == 1 and len(grabber.bound) == 1


# -- Windows, by a fake


class FakeWindows:
    """Registers keys as Windows does: by thread, and each once."""

    def __init__(self) -> None:
        self.registered: dict[int, tuple[int, int]] = {}
        self.errors: dict[int, int] = {}
        self.held: set[int] = set()
        self.strange: list[str] = []
        self.altgr: set[tuple[int, bool]] = set()
        self._owner = 0
        self._messages: queue.Queue[int | None] = queue.Queue()

    def prepare(self) -> None:
        self._owner = threading.get_native_id()
        self._messages = queue.Queue()

    def register(self, number: int, modifiers: int, virtual_key: int) -> int:
        self._check_thread()
        if virtual_key in self.errors:
            return self.errors[virtual_key]
        self.registered[number] = (modifiers, virtual_key)
        return 0

    def unregister(self, number: int) -> None:
        self._check_thread()
        del self.registered[number]

    def wait(self) -> int | None:
        self._check_thread()
        return self._messages.get(timeout=10)

    def quit(self, thread: int) -> None:
        if thread != self._owner:
            self.strange.append("told another thread to end")
        self._messages.put(None)

    def down(self, virtual_key: int) -> bool:
        return virtual_key in self.held

    def key_of(self, character: str) -> tuple[int, bool]:
        plain = {character: (ord(character.upper()), False) for character in "mq17"}
        return {**plain, "!": (0x31, True), "/": (0x37, True)}.get(character, (0, False))

    def writes(self, virtual_key: int, shifted: bool) -> bool:
        return (virtual_key, shifted) in self.altgr

    def press(self, number: int) -> None:
        self.held.add(self.registered[number][1])
        self._messages.put(number)

    def _check_thread(self) -> None:
        if threading.get_native_id() != self._owner:
            self.strange.append("called from another thread")


OnWindows = tuple[FakeWindows, Hotkeys, Heard]


@pytest.fixture
def on_windows() -> Iterator[OnWindows]:
    """Hotkeys on a fake of Windows, in which nothing strange may happen."""
    windows = FakeWindows()
    hotkeys = Hotkeys(make=lambda: WindowsHotkeys(system=windows))
    yield windows, hotkeys, Heard(hotkeys)
    hotkeys.close()
    assert windows.registered == {} and windows.strange == []


def test_on_windows_a_key_is_pressed_until_it_is_up(qtbot: QtBot, on_windows: OnWindows) -> None:
    windows, hotkeys, heard = on_windows
    hotkeys.set_keys("Ctrl+Alt+Space", "Ctrl+M")
    qtbot.waitUntil(lambda: len(windows.registered) == 2)
    assert windows.registered == {1: (NO_REPEAT | 0x1 | 0x2, 0x20), 2: (NO_REPEAT | 0x2, 0x4D)}
    windows.press(1)
    qtbot.waitUntil(lambda: heard.words == ["talk"])
    windows.press(2)
    windows.press(2)  # a repeat, if there were one
    qtbot.waitUntil(lambda: heard.words == ["talk", "mute"])
    windows.held.discard(0x20)
    qtbot.waitUntil(lambda: heard.words == ["talk", "mute", "let go"])
    windows.held.clear()
    assert heard.failures == []


def test_on_windows_new_keys_free_the_old_ones(qtbot: QtBot, on_windows: OnWindows) -> None:
    windows, hotkeys, heard = on_windows
    hotkeys.set_keys("Ctrl+Alt+Space", "")
    qtbot.waitUntil(lambda: len(windows.registered) == 1)
    windows.press(1)
    qtbot.waitUntil(lambda: heard.words == ["talk"])
    hotkeys.set_keys("Ctrl+!", "")
    qtbot.waitUntil(lambda: windows.registered == {1: (NO_REPEAT | 0x2 | 0x4, 0x31)})
    assert heard.words == ["talk", "let go"]


def test_on_windows_a_taken_key_is_reported_and_the_other_works(qtbot: QtBot, on_windows: OnWindows) -> None:
    windows, hotkeys, heard = on_windows
    windows.errors = {0x20: ALREADY_REGISTERED, 0x70: 5}
    hotkeys.set_keys("Ctrl+Space", "Ctrl+M")
    qtbot.waitUntil(lambda: heard.failures != [] and len(windows.registered) == 1)
    assert heard.failures == ["“Ctrl+Space” is another program's hotkey already, so it can't be used. Choose another."]
    windows.press(2)
    qtbot.waitUntil(lambda: heard.words == ["mute"])
    hotkeys.set_keys("F1", "Ctrl+ü")
    qtbot.waitUntil(lambda: len(heard.failures) == 3)
    assert "layout" in heard.failures[1] and "error 5" in heard.failures[2]


def test_on_windows_altgr_combinations_that_type_a_character_are_refused(qtbot: QtBot, on_windows: OnWindows) -> None:
    windows, hotkeys, heard = on_windows
    windows.altgr = {(ord("Q"), False), (ord("7"), True)}  # “@”, as on a German keyboard; one that takes Shift, too
    hotkeys.set_keys("Ctrl+Alt+Space", "Ctrl+Alt+Q")
    qtbot.waitUntil(lambda: windows.registered == {1: (NO_REPEAT | 0x1 | 0x2, 0x20)})
    assert heard.failures == ["“Ctrl+Alt+Q” writes a character on your keyboard (AltGr). Choose other keys."]
    for keys, refused in (
        ("Ctrl+Alt+Shift+Q", False),
        ("Ctrl+Alt+Meta+Q", False),
        ("Alt+Q", False),
        ("Ctrl+Alt+7", False),
        ("Ctrl+Alt+Shift+7", True),
        ("Ctrl+Alt+/", True),
    ):
        heard.failures.clear()
        hotkeys.set_keys(keys, "")
        qtbot.waitUntil(lambda refused=refused: len(windows.registered) == (not refused))
        assert bool(heard.failures) == refused, keys


def test_on_windows_two_names_of_one_key_are_reported_and_the_first_works(qtbot: QtBot, on_windows: OnWindows) -> None:
    windows, hotkeys, heard = on_windows
    hotkeys.set_keys("Ctrl+!", "Ctrl+Shift+1")
    qtbot.waitUntil(lambda: windows.registered == {1: (NO_REPEAT | 0x2 | 0x4, 0x31)})
    [sentence] = heard.failures
    assert sentence.startswith("“Ctrl+Shift+1” is the same as “Ctrl+!” on your keyboard")
    hotkeys.set_keys("Media Play", "Toggle Media Play/Pause")
    qtbot.waitUntil(lambda: windows.registered == {1: (NO_REPEAT, 0xB3)})
    assert len(heard.failures) == 2 and "is the same as" in heard.failures[1]


class FakeUser32:
    """The part of Windows that says what a key types; `written`: its result, `asked`: its arguments."""

    def __init__(self) -> None:
        self.written = ""
        self.accent = False
        self.asked: list[tuple[int, list[int], int]] = []

    def GetKeyboardLayout(self, thread: int) -> int:
        return 0x4070407

    def ToUnicodeEx(
        self, key: int, scan: int, held: bytes, out: ctypes.Array[ctypes.c_wchar], size: int, flags: int, layout: int
    ) -> int:
        assert size == len(out) and len(held) == 256 and layout == 0x4070407
        self.asked.append((key, [code for code, state in enumerate(held) if state & 0x80], flags))
        for place, character in enumerate(self.written):
            out[place] = character
        return -1 if self.accent else len(self.written)


@pytest.mark.parametrize(
    ("written", "accent", "writes"),
    [
        ("@", False, True),
        (" ", False, False),
        ("\x7f", False, False),
        ("`", True, True),
    ],
)
def test_on_windows_asking_what_a_key_types_changes_nothing(written: str, accent: bool, writes: bool) -> None:
    system = User32.__new__(User32)
    system._user32 = fake = FakeUser32()
    fake.written, fake.accent = written, accent
    assert system.writes(0x51, False) is writes and system.writes(0x51, True) is writes
    control, alt, shift, no_trace = 0x11, 0x12, 0x10, 0x4
    assert [(key, held) for key, held, _ in fake.asked] == [(0x51, [control, alt]), (0x51, [shift, control, alt])]
    assert all(flags & no_trace for _, _, flags in fake.asked)


# -- X11, without a screen (with one: tests/live/test_hotkey.py)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs python-xlib")
@pytest.mark.parametrize("display", [":9999", "nonsense"])
def test_on_x11_a_missing_server_is_reported(display: str) -> None:
    from app.gui.hotkeys.x11 import X11Hotkeys

    hotkeys = Hotkeys(make=lambda: X11Hotkeys(display=display))
    heard = Heard(hotkeys)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # python-xlib forgets a socket that it could not connect
        hotkeys.set_keys("Ctrl+Alt+Space", "Ctrl+Alt+M")
        gc.collect()
    assert len(heard.failures) == 1 and heard.failures[0].endswith("so they don't work.") and hotkeys.none_work
    hotkeys.close()


# -- Wayland, with a portal on a real message bus


@pytest.fixture(scope="module")
def bus() -> Iterator[str]:
    from tests.support.keyring import secret_service

    with tempfile.TemporaryDirectory(prefix="hk") as folder, secret_service(Path(folder), keyring=False) as service:
        yield service.environment["DBUS_SESSION_BUS_ADDRESS"]


@contextlib.contextmanager
def on_portal(address: str, there: bool = True, **behaviour: Any) -> Iterator[tuple[Any, Hotkeys, Heard]]:
    """A portal with this behaviour, or none unless `there`, and hotkeys that use it."""
    from app.gui.hotkeys.portal import PortalHotkeys
    from tests.support.portal import Portal

    portal = Portal(address, **behaviour) if there else None
    hotkeys = Hotkeys(make=lambda: PortalHotkeys(address=address))
    try:
        yield portal, hotkeys, Heard(hotkeys)
    finally:
        hotkeys.close()
        if portal is not None and portal._thread.is_alive():  # else it is closed already
            portal.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "hotkeys"]


@on_linux
def test_on_wayland_the_portal_reports_presses_and_releases(bus: str, qtbot: QtBot) -> None:
    with on_portal(bus, wants_id=True) as (portal, hotkeys, heard):
        hotkeys.set_keys("Ctrl+Alt+Space", "Meta+,")
        qtbot.waitUntil(lambda: any(portal.sessions.values()))
        [shortcuts] = portal.sessions.values()
        assert {name: about["preferred_trigger"] for name, about in shortcuts.items()} == {
            "talk": "CTRL+ALT+space",
            "mute": "LOGO+comma",
        }
        assert all(about["description"] for about in shortcuts.values())
        portal.activate("mute", session="/org/freedesktop/portal/desktop/session/1_1/another")
        portal.activate("unknown")
        portal.activate("talk")
        portal.activate("talk")  # some desktops repeat
        portal.activate("mute")
        qtbot.waitUntil(lambda: heard.words == ["talk", "mute"])
        portal.deactivate("mute")
        portal.deactivate("talk")
        qtbot.waitUntil(lambda: heard.words == ["talk", "mute", "let go"])
        assert heard.failures == []
        hotkeys.close()
        qtbot.waitUntil(lambda: bool(portal.closed) and not portal.sessions)


@on_linux
def test_on_wayland_the_desktop_reports_which_keys_it_uses(bus: str, qtbot: QtBot) -> None:
    from tests.support.portal import PATH, SHORTCUTS

    with on_portal(bus) as (portal, hotkeys, heard):

        def change(session: str, name: str, about: dict) -> None:
            body = (session, [(name, about)])
            portal._emit(PATH, SHORTCUTS, "ShortcutsChanged", "oa(sa{sv})", body, portal._owners[session])

        hotkeys.set_keys("Ctrl+Alt+Space", "Ctrl+Alt+J")
        qtbot.waitUntil(lambda: heard.granted == {"talk": "a key", "mute": "a key"})
        [session] = portal.sessions
        change(session, "another", {"trigger_description": ("s", "Super+A")})
        change(session, "talk", {"description": ("s", "Talk")})
        change(session, "talk", {"trigger_description": ("s", "Super+T")})
        qtbot.waitUntil(lambda: heard.granted == {"talk": "Super+T", "mute": "a key"})
        portal.close_session()
        qtbot.waitUntil(lambda: heard.granted == {"talk": "", "mute": ""})


@on_linux
def test_on_wayland_new_keys_are_a_new_session(bus: str, qtbot: QtBot) -> None:
    with on_portal(bus, has_registry=False) as (portal, hotkeys, heard):
        hotkeys.set_keys("Ctrl+K", "")
        qtbot.waitUntil(lambda: any(portal.sessions.values()))
        [old] = portal.sessions
        portal.activate("talk")
        qtbot.waitUntil(lambda: heard.words == ["talk"])
        hotkeys.set_keys("Ctrl+J", "")
        assert heard.words == ["talk", "let go"]
        qtbot.waitUntil(lambda: portal.closed == [old] and any(portal.sessions.values()))
        [shortcuts] = portal.sessions.values()
        assert shortcuts["talk"]["preferred_trigger"] == "CTRL+j"
        portal.activate("talk")
        qtbot.waitUntil(lambda: heard.words == ["talk", "let go", "talk"])
    assert heard.words == ["talk", "let go", "talk", "let go"] and heard.failures == []


@on_linux
@pytest.mark.parametrize(
    ("behaviour", "why"),
    [
        ({"response": 1}, "cancelled"),
        ({"response": 2}, "refuses"),
        ({"wants_id": True, "has_registry": False}, "An app id is required"),
        ({"shortcuts": False}, "offers programs no hotkeys"),
        ({"there": False}, "offers programs no hotkeys"),
        ({"there": False, "address": "unix:path=/nowhere/bus"}, "offers programs no hotkeys"),
        ({"bound": False}, "no key"),
    ],
)
def test_on_wayland_a_refusal_is_reported(bus: str, qtbot: QtBot, behaviour: dict, why: str) -> None:
    with on_portal(**{"address": bus, **behaviour}) as (_, hotkeys, heard):
        hotkeys.set_keys("Ctrl+Alt+Space", "")
        qtbot.waitUntil(lambda: heard.failures != [])
        [sentence] = heard.failures
        assert why in sentence and "ptt" not in sentence and hotkeys.none_work


@on_linux
@pytest.mark.parametrize("how", ["session closed", "portal gone"])
def test_on_wayland_the_desktop_ends_it(bus: str, qtbot: QtBot, how: str) -> None:
    with on_portal(bus) as (portal, hotkeys, heard):
        hotkeys.set_keys("Ctrl+Alt+Space", "")
        qtbot.waitUntil(lambda: any(portal.sessions.values()))
        portal.activate("talk")
        qtbot.waitUntil(lambda: heard.words == ["talk"])
        if how == "session closed":
            portal.close_session()
        else:
            portal.close()
        qtbot.waitUntil(lambda: heard.failures != [])
        assert heard.words == ["talk", "let go"] and "ended" in heard.failures[0]


@on_linux
def test_on_wayland_closing_does_not_wait_for_an_open_dialog(bus: str, qtbot: QtBot) -> None:
    from app.gui.hotkeys.portal import CLOSE_SECONDS

    with on_portal(bus, response=None) as (portal, hotkeys, heard):
        hotkeys.set_keys("Ctrl+Alt+Space", "")
        qtbot.waitUntil(lambda: any(portal.sessions.values()))
        before = time.monotonic()
        hotkeys.close()
        assert time.monotonic() - before < CLOSE_SECONDS
        qtbot.waitUntil(lambda: len(portal.closed) == 1)
        assert heard.failures == []
