"""Hotkeys on a real X server, while another program's window has the focus. The app's side is a child process; the test
itself owns the other window, and presses the keys."""

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.child import Child
from tests.support.screen import Screen, virtual_screen

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an X server")
SECONDS = 10.0
APP = """
import sys
from PySide6.QtCore import QSocketNotifier
from PySide6.QtGui import QGuiApplication
from app.gui.hotkeys import x11
from app.gui.hotkeys.manager import Hotkeys

class Counting(x11.X11Hotkeys):
    "Also tells what the X server sends, repeats included."
    def _key_down(self, code, state):
        say("raw")
        super()._key_down(code, state)

x11.X11Hotkeys = Counting

def say(word):
    print(word, flush=True)

def hear():
    word, *rest = sys.stdin.readline().rstrip("\\n").split("|")
    if word == "keys":
        hotkeys.set_keys(*rest)
        say("set")
    elif word == "idle":
        say("idle")
    else:
        hotkeys.close()
        say("closed")
        app.quit()

app = QGuiApplication([])
hotkeys = Hotkeys()
hotkeys.talk_pressed.connect(lambda: say("pressed"))
hotkeys.talk_released.connect(lambda: say("released"))
hotkeys.mute_pressed.connect(lambda: say("mute"))
hotkeys.failed.connect(lambda sentence: say("failed: " + sentence))
hotkeys.rebinding.connect(lambda: say("renewed"))
inward = QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read)
inward.activated.connect(lambda *_: hear())
app.exec()
"""


class App(Child):
    """A process with hotkeys. `lines` is what it has said since the keys were set, but for what is counted: the `raw`
    presses, repeats included, and how often it has `renewed` its keys."""

    def __init__(self, screen: Screen) -> None:
        gone = ("WAYLAND_DISPLAY", "XDG_SESSION_TYPE")
        env = {name: value for name, value in os.environ.items() if name not in gone}
        super().__init__(APP, env={**env, "DISPLAY": screen.display, "QT_QPA_PLATFORM": "xcb"}, patience=SECONDS)
        self.lines: list[str] = []
        self.raw = self.renewed = 0

    def set_keys(self, talk: str, mute: str) -> None:
        """Returns when they are taken, or have failed."""
        self.lines.clear()
        self.tell(f"keys|{talk}|{mute}")
        self.until(lambda: "set" in self.lines)
        self.lines.remove("set")

    def until_renewed(self, times: int) -> None:
        """Returns once it has taken its keys anew `times` times. It says so before it takes them, but hears the next
        command only afterwards."""
        self.until(lambda: self.renewed == times)
        self.tell("idle")
        self.until(lambda: "idle" in self.lines)
        self.lines.remove("idle")

    def until(self, holds: Callable[[], bool]) -> None:
        self.wait(lambda: self.hear() or holds(), lambda: f"heard {self.lines} and {self.raw} presses")

    def hear(self, seconds: float = 0.0) -> None:
        """Takes all that it has said, or comes to say in time."""
        while (line := self.line(seconds)) is not None:
            if line == "raw":
                self.raw += 1
            elif line == "renewed":
                self.renewed += 1
            else:
                self.lines.append(line)
            seconds = 0.0

    def expect(self, *lines: str) -> None:
        """Hears until it has said exactly this since the keys were set, and no other."""
        self.until(lambda: len(self.lines) >= len(lines))
        assert self.lines == list(lines)

    def close(self) -> int:
        """Its exit code, after an end in good order."""
        self.tell("close")
        self.until(lambda: "closed" in self.lines)
        return self.process.wait(SECONDS)


class Other:
    """Another program: a window with the focus that notes its keys, and a hand on the keyboard."""

    def __init__(self, screen: Screen) -> None:
        from Xlib import X, display

        self.display = display.Display(screen.display)
        self.root = self.display.screen().root
        self.window = self.root.create_window(
            0, 0, 100, 100, 0, X.CopyFromParent, event_mask=X.KeyPressMask | X.KeyReleaseMask | X.StructureNotifyMask
        )
        self.got: list[int] = []
        self._held: list[int] = []
        self.window.map()
        self._wait_for(X.MapNotify)
        self.window.set_input_focus(X.RevertToParent, X.CurrentTime)
        self.display.sync()
        assert self.display.get_input_focus().focus.id == self.window.id

    def down(self, *names: str) -> None:
        self._fake(2, names)
        self._held += [self.code(name) for name in names]

    def up(self, *names: str) -> None:
        self._fake(3, names)
        for name in names:
            self._held.remove(self.code(name))

    def strike(self, *names: str) -> None:
        self.down(*names)
        self.up(*reversed(names))

    def flicker(self, name: str) -> None:
        """Lets a key go and presses it again 10 ms later; the X server keeps the time."""
        from Xlib.ext import xtest

        xtest.fake_input(self.display, 3, self.code(name))
        xtest.fake_input(self.display, 2, self.code(name), time=10)
        self.display.sync()

    def presses(self) -> list[int]:
        """The keycodes that the window has got; a key that only it wants tells that all before it has come."""
        self.strike("q")
        until = time.monotonic() + SECONDS
        while self.code("q") not in self.got:
            assert time.monotonic() < until, "the window has lost the focus"
            self._drain()
        return [code for code in self.got if code != self.code("q")]

    def code(self, name: str) -> int:
        from Xlib import XK

        code = self.display.keysym_to_keycode(XK.string_to_keysym(name))
        assert code, f"no key for {name}"
        return code

    def grab(self, name: str, modifiers: int) -> bool:
        from Xlib import X, error

        caught = error.CatchError(error.BadAccess)
        self.root.grab_key(self.code(name), modifiers, False, X.GrabModeAsync, X.GrabModeAsync, onerror=caught)
        self.display.sync()
        return caught.get_error() is None

    def ungrab(self, name: str, modifiers: int) -> None:
        self.root.ungrab_key(self.code(name), modifiers)
        self.display.sync()

    def swap(self, one: str, other: str) -> None:
        codes = [self.code(one), self.code(other)]
        maps = [list(self.display.get_keyboard_mapping(code, 1)[0]) for code in codes]
        for code, mapping in zip(codes, reversed(maps), strict=True):
            self._map(code, mapping)
        assert [self.code(one), self.code(other)] == codes[::-1]

    @contextlib.contextmanager
    def renamed(self, name: str, new: str) -> Iterator[None]:
        from Xlib import XK

        code = self.code(name)
        before = list(self.display.get_keyboard_mapping(code, 1)[0])
        try:
            self._map(code, [XK.string_to_keysym(new)] * len(before))
            yield
        finally:
            self._map(code, before)

    def _map(self, code: int, mapping: list[int]) -> None:
        self.display.change_keyboard_mapping(code, [mapping])
        self.display.sync()
        until = time.monotonic() + SECONDS
        while self.display.keycode_to_keysym(code, 0) != mapping[0]:
            assert time.monotonic() < until
            self._drain()

    def end(self) -> None:
        from Xlib.ext import xtest

        for code in self._held:
            xtest.fake_input(self.display, 3, code)
        self.display.sync()
        self.display.close()

    def _fake(self, kind: int, names: tuple[str, ...]) -> None:
        from Xlib.ext import xtest

        for name in names:
            xtest.fake_input(self.display, kind, self.code(name))
        self.display.sync()

    def _drain(self) -> None:
        from Xlib import X

        while self.display.pending_events():
            event = self.display.next_event()
            if event.type == X.KeyPress:
                self.got.append(event.detail)
            elif event.type == X.MappingNotify:
                self.display.refresh_keyboard_mapping(event)

    def _wait_for(self, kind: int) -> Any:
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            if self.display.pending_events() and (event := self.display.next_event()).type == kind:
                return event
        raise AssertionError("the other window does not show")


@pytest.fixture(scope="module")
def screen() -> Iterator[Screen]:
    with virtual_screen() as made:
        yield made


@pytest.fixture(scope="module")
def app(screen: Screen) -> Iterator[App]:
    made = App(screen)
    yield made
    made.kill()


@pytest.fixture
def other(screen: Screen, app: App) -> Iterator[Other]:
    made = Other(screen)
    yield made
    made.end()
    app.set_keys("", "")


CTRL_ALT = 0x4 | 0x8


def test_a_held_hotkey_presses_once_and_releases_once(app: App, other: Other) -> None:
    app.set_keys("Ctrl+Alt+Space", "Ctrl+Alt+M")
    app.raw = 0
    other.down("Control_L", "Alt_L", "space")
    app.expect("pressed")
    app.until(lambda: app.raw >= 8)  # the X server repeats the key
    assert app.lines == ["pressed"]
    other.strike("m")  # the other hotkey in between, and a proof that nothing else has come before
    app.expect("pressed", "mute")
    other.up("space")
    app.expect("pressed", "mute", "released")
    other.up("Alt_L", "Control_L")
    assert {other.code("space"), other.code("m")}.isdisjoint(other.presses())


def test_the_modifiers_may_be_let_go_first(app: App, other: Other) -> None:
    app.set_keys("Ctrl+Alt+Space", "")
    app.raw = 0
    other.down("Control_L", "Alt_L", "space")
    app.expect("pressed")
    other.up("Control_L", "Alt_L")
    app.until(lambda: app.raw >= 6)
    assert app.lines == ["pressed"]
    other.up("space")
    app.expect("pressed", "released")
    assert other.code("space") not in other.presses()


def test_repeats_that_come_as_releases_and_presses_do_not_count(app: App, other: Other) -> None:
    """As from a keyboard at the other end of a network, where the X server knows of no repeats."""
    app.set_keys("Ctrl+Alt+Space", "Ctrl+Alt+M")
    other.down("Control_L", "Alt_L", "space")
    app.expect("pressed")
    for _ in range(5):
        other.flicker("space")
    other.strike("m")
    app.expect("pressed", "mute")
    other.up("space", "Alt_L", "Control_L")
    app.expect("pressed", "mute", "released")


@pytest.mark.parametrize("locks", [("Caps_Lock",), ("Num_Lock",), ("Caps_Lock", "Num_Lock")])
def test_with_locks_on(locks: tuple[str, ...], app: App, other: Other) -> None:
    app.set_keys("Ctrl+Alt+Space", "Ctrl+Alt+M")
    for lock in locks:
        other.strike(lock)
    assert other.root.query_pointer().mask & (0x2 | 0x10), "no lock is on"
    try:
        other.strike("Control_L", "Alt_L", "space")
        app.expect("pressed", "released")
        other.strike("Control_L", "Alt_L", "m")
        app.expect("pressed", "released", "mute")
    finally:
        for lock in locks:
            other.strike(lock)
    assert not other.root.query_pointer().mask & (0x2 | 0x10)
    assert {other.code("space"), other.code("m")}.isdisjoint(other.presses())


def test_other_keys_and_other_modifiers_stay_the_other_programs(app: App, other: Other) -> None:
    app.set_keys("Ctrl+Alt+Space", "Ctrl+Alt+M")
    other.strike("space")
    other.strike("Control_L", "m")
    other.strike("Control_L", "Alt_L", "Shift_L", "space")
    assert other.presses().count(other.code("space")) == 2 and other.code("m") in other.presses()
    other.strike("Control_L", "Alt_L", "m")
    app.expect("mute")


def test_a_key_that_another_program_has_is_told(app: App, other: Other) -> None:
    assert other.grab("space", CTRL_ALT)
    app.set_keys("Ctrl+Alt+Space", "Ctrl+Alt+M")
    app.expect("failed: “Ctrl+Alt+Space” is another program's hotkey already, so it can't be used. Choose another.")
    other.strike("Control_L", "Alt_L", "m")
    app.until(lambda: "mute" in app.lines)  # which is not taken
    other.ungrab("space", CTRL_ALT)
    app.set_keys("Ctrl+Alt+Space", "Ctrl+Alt+M")
    other.strike("Control_L", "Alt_L", "space")
    app.expect("pressed", "released")


def test_a_key_that_is_taken_only_with_a_lock_on_is_not_half_kept(app: App, other: Other) -> None:
    assert other.grab("space", CTRL_ALT | 0x2)
    app.set_keys("Ctrl+Alt+Space", "")
    app.until(lambda: any(line.startswith("failed") for line in app.lines))
    assert other.grab("space", CTRL_ALT), "the app has kept a part"
    other.ungrab("space", CTRL_ALT)
    other.ungrab("space", CTRL_ALT | 0x2)


def test_new_keys_free_the_old_ones_even_while_held(app: App, other: Other) -> None:
    app.set_keys("Ctrl+Alt+Space", "")
    assert not other.grab("space", CTRL_ALT)
    other.down("Control_L", "Alt_L", "space")
    app.expect("pressed")
    app.lines.clear()
    app.tell("keys|Ctrl+Alt+J|")
    app.expect("released", "set")
    other.presses()  # the keyboard is the other window's again, though the key is still down
    other.up("space", "Alt_L", "Control_L")
    assert other.grab("space", CTRL_ALT)
    other.ungrab("space", CTRL_ALT)
    app.lines.clear()
    other.strike("Control_L", "Alt_L", "j")
    app.expect("pressed", "released")


def test_another_layout_moves_the_hotkey(app: App, other: Other) -> None:
    app.set_keys("Ctrl+Alt+K", "Ctrl+Alt+M")
    before = other.code("k")
    other.swap("k", "z")
    try:
        assert other.code("k") != before
        # The app hears of it on its own connection: until it has, the other window gets the key.
        until = time.monotonic() + SECONDS
        while "pressed" not in app.lines:
            assert time.monotonic() < until, "the hotkey did not move"
            other.strike("Control_L", "Alt_L", "k")
            app.hear(0.1)
        assert other.grab("z", CTRL_ALT), "the old place is not free"
        other.ungrab("z", CTRL_ALT)
    finally:
        other.swap("k", "z")


def test_a_key_that_the_layout_lacked_works_once_another_layout_has_it(app: App, other: Other) -> None:
    app.set_keys("Ctrl+Alt+ß", "A")
    lacks, never = app.lines
    assert "layout has no" in lacks and "every program" in never
    app.renewed = 0
    with other.renamed("F11", "ssharp"):
        app.until_renewed(1)
        other.strike("Control_L", "Alt_L", "ssharp")
        app.expect(lacks, never, never, "pressed", "released")
    app.until_renewed(2)
    app.expect(lacks, never, never, "pressed", "released", never, lacks)


def test_two_names_of_one_key_are_told_and_the_first_works(app: App, other: Other) -> None:
    app.set_keys("Ctrl+Alt+!", "Ctrl+Alt+Shift+1")
    sentence = "“Ctrl+Alt+Shift+1” is the same as “Ctrl+Alt+!” on your keyboard, which has another use here already."
    app.expect(f"failed: {sentence} Choose other keys.")
    other.strike("Control_L", "Alt_L", "Shift_L", "1")
    app.expect(f"failed: {sentence} Choose other keys.", "pressed", "released")


def test_closing_while_held_is_quick_and_frees_the_key(screen: Screen, app: App, other: Other) -> None:
    second = App(screen)
    try:
        second.set_keys("Ctrl+Alt+G", "")
        other.down("Control_L", "Alt_L", "g")
        second.expect("pressed")
        begin = time.monotonic()
        assert second.close() == 0
        assert time.monotonic() - begin < 3
        assert second.lines == ["pressed", "released", "closed"]
        other.up("g", "Alt_L", "Control_L")
        assert other.grab("g", CTRL_ALT)
    finally:
        second.kill()


def test_a_lost_x_server_ends_the_hotkeys_with_a_sentence() -> None:
    code = """
import os, signal, sys
from PySide6.QtCore import QCoreApplication, QTimer
from app.gui.hotkeys.x11 import X11Hotkeys
from app.gui.hotkeys.hotkey import read_hotkey
app = QCoreApplication([])
keys = X11Hotkeys(display=os.environ["DISPLAY"])
keys.failed.connect(lambda name, sentence: (print(repr(name), sentence, flush=True), app.quit()))
keys.bind({"talk": read_hotkey("Ctrl+Alt+Space")})
print("bound", flush=True)
QTimer.singleShot(10_000, app.quit)
app.exec()
keys.close()
"""
    with virtual_screen() as screen, contextlib.ExitStack() as beyond:
        child = Child(code, env={**os.environ, "DISPLAY": screen.display}, patience=SECONDS)
        beyond.callback(child.kill)
        assert child.line(SECONDS) == "bound"
        beyond.pop_all()  # the screen goes at the end of this block; the child outlives it
    with child:
        said = child.line(SECONDS)
        child.end()
    assert said is not None and said.startswith("'' The X server can't")
