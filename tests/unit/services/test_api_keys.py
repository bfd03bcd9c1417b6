"""Tests where keys are found and kept, also when the keyring is locked, slow, unsafe or missing."""

import pickle
import sys
import threading
import time
import types
from typing import Any

import keyring
import pytest
from keyring.backends import chainer, fail, null

from app.services.api_keys import Forgotten, KeyRefused, KeyStore, clean_key, system_keyring
from tests.support.leaks import SECRET, all_logs, places_with, texts_of
from tests.support.tables import cases


class Ring:
    """A keyring in a dictionary; every call raises `error`, if it is set."""

    def __init__(self, **held: str) -> None:
        self.held = dict(held)
        self.error: BaseException | None = None
        self.calls: list[str] = []
        self.gate = threading.Event()
        self.gate.set()

    def _called(self, what: str) -> None:
        self.calls.append(what)
        self.gate.wait(20)
        if self.error is not None:
            raise self.error

    def get_password(self, service: str, name: str) -> str | None:
        assert service == "kame-desktop"
        self._called(f"get {name}")
        return self.held.get(name)

    def set_password(self, service: str, name: str, key: str) -> None:
        self._called(f"set {name}")
        self.held[name] = key

    def delete_password(self, service: str, name: str) -> None:
        self._called(f"delete {name}")
        del self.held[name]


def store(ring: Any = None, environment: dict[str, str] | None = None, deadline: float = 5.0) -> KeyStore:
    def open_keyring() -> Any:
        if ring is None:
            raise keyring.errors.NoKeyringError("none")
        return ring

    environment = {} if environment is None else environment
    return KeyStore(environment=environment, open_keyring=open_keyring, deadline=deadline)


NAMES = ("GEMINI_API_KEY", "GOOGLE_API_KEY")


def test_the_environment_wins_then_memory_then_the_keyring() -> None:
    ring, environment = Ring(GOOGLE_API_KEY="ring-2"), {"GOOGLE_API_KEY": " env-2\n"}
    keys = store(ring, environment)
    assert keys.find(NAMES) == ("env-2", "environment")
    environment["GEMINI_API_KEY"] = '"env-1"'  # cmd.exe keeps the quotes of `set NAME="value"`
    assert keys.find(NAMES) == ("env-1", "environment")
    assert ring.calls == [], "what the environment says needs no keyring"
    environment.clear()
    assert keys.find(NAMES) == ("ring-2", "keyring")
    ring.held["GEMINI_API_KEY"] = "ring-1"
    assert keys.find(NAMES) == ("ring-1", "keyring")
    ring.error = OSError("no")
    assert keys.keep("GOOGLE_API_KEY", "mine") == "memory"
    ring.error = None
    assert keys.find(NAMES) == ("mine", "memory") and keys.api_key("GOOGLE_API_KEY") == "mine"
    assert keys.keep("GOOGLE_API_KEY", "newer") == "keyring"
    assert keys.find(("GOOGLE_API_KEY",)) == ("newer", "keyring"), "the older one in memory is gone"
    assert keys.find(()) == keys.find([]) == ("", "none") and keys.api_key("") == keys.api_key(()) == ""


def test_forgetting_takes_all_that_is_the_apps_to_take() -> None:
    environment: dict[str, str] = {}
    ring = Ring(GEMINI_API_KEY="a", GOOGLE_API_KEY="b")
    keys = store(ring, environment)
    assert keys.forget(NAMES) == Forgotten(True, "none") and ring.held == {}
    assert keys.forget(NAMES) == Forgotten(False, "none") and keys.trouble == ""
    environment["GOOGLE_API_KEY"] = "c"
    assert keys.forget(NAMES) == Forgotten(False, "environment")
    memory = store(None)
    memory.keep("A", "key")
    assert memory.forget(["A"]) == Forgotten(True, "none") and memory.find(["A"]) == ("", "none")
    assert memory.trouble == "", "without a keyring there is nothing that could not be forgotten"
    ring.error = keyring.errors.KeyringLocked("x")
    assert store(ring).forget(["A"]) == Forgotten(False, "keyring")


@cases(
    "error, words",
    (keyring.errors.NoKeyringError(SECRET), "No keyring is running"),
    (keyring.errors.KeyringLocked(SECRET), "locked"),
    (keyring.errors.PasswordSetError(SECRET), "failed (PasswordSetError)"),
    (OSError(1783, SECRET), "failed (OSError)"),
    (SystemExit(SECRET), "failed (SystemExit)"),
)
def test_a_keyring_that_fails_is_a_sentence_and_memory(error: BaseException, words: str) -> None:
    ring = Ring()
    ring.error = error
    keys = store(ring)
    with all_logs() as logs:
        assert keys.keep("A", SECRET) == "memory"
        assert words in keys.trouble and keys.trouble.endswith(".")
        assert keys.find(["A"]) == (SECRET, "memory") and keys.trouble == ""
        assert keys.find(["B"]) == ("", "none")
        assert not places_with(SECRET, texts=[keys.trouble, repr(keys), *logs])


def test_a_keyring_that_drops_what_it_is_given_is_not_believed() -> None:
    class Dropping(Ring):
        def set_password(self, service: str, name: str, key: str) -> None:
            return None

    keys = store(Dropping())
    assert keys.keep("A", "key") == "memory" and "did not keep" in keys.trouble


def test_a_hanging_keyring_costs_one_deadline_and_is_used_again_when_it_wakes() -> None:
    ring = Ring(A="old")
    keys = store(ring, deadline=0.5)
    ring.gate.clear()
    started = time.monotonic()
    assert keys.find(["A"]) == ("", "none")
    assert 0.45 < time.monotonic() - started < 3 and "does not answer" in keys.trouble
    started = time.monotonic()
    assert keys.find(["A"]) == ("", "none") and keys.keep("A", "new") == "memory"
    assert keys.find(["A"]) == ("new", "memory")
    assert keys.forget(["B"]) == Forgotten(False, "keyring") and "does not answer" in keys.trouble
    assert time.monotonic() - started < 0.45, "while one call hangs, the others don't wait"
    ring.gate.set()
    until = time.monotonic() + 5
    while keys.find(["C"])[1] != "none" or keys.trouble:
        assert time.monotonic() < until, keys.trouble
        time.sleep(0.01)
    assert ring.held == {"A": "new"}, "what was wanted meanwhile is done, in order"
    assert keys.keep("A", "newest") == "keyring" and keys.find(["A"]) == ("newest", "keyring")


def test_what_was_forgotten_while_the_keyring_slept_does_not_come_back() -> None:
    ring = Ring()
    keys = store(ring, deadline=0.05)
    ring.gate.clear()
    assert keys.keep("A", "key") == "memory"
    assert keys.forget(["A"]) == Forgotten(True, "keyring")
    ring.gate.set()
    until = time.monotonic() + 5
    while "delete A" not in ring.calls:
        assert time.monotonic() < until
        time.sleep(0.01)
    assert ring.held == {} and keys.find(["A"]) == ("", "none")


def test_a_process_ends_while_its_keyring_hangs() -> None:
    import subprocess

    code = (
        "import threading\nfrom app.services.api_keys import KeyStore\n"
        "keys = KeyStore(environment={}, open_keyring=threading.Event().wait, deadline=0.05)\n"
        "print(keys.find(['A']), keys.trouble)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20)
    assert done.returncode == 0 and "('', 'none') The system's keyring does not answer" in done.stdout, done.stderr


@pytest.mark.parametrize(
    "pasted",
    [SECRET, f"  {SECRET}\r\n", f'"{SECRET}"', f"'{SECRET}'\n", f" “{SECRET}” ", f"\ufeff{SECRET}", f"`{SECRET}`"],
)
def test_what_a_paste_brings_along_is_taken_off(pasted: str) -> None:
    assert clean_key(pasted) == SECRET


@cases(
    "pasted, words",
    ("", "is empty"),
    ('""', "is empty"),
    (f"{SECRET}\n{SECRET}", "line ends"),
    (f"{SECRET} {SECRET}", "blanks"),
    (f"\x16{SECRET}", "right click"),
    (f"{SECRET}\x00", "control"),
    (f"{SECRET}—{SECRET}", "formatted"),
    (f"{SECRET[:4]}\u200b{SECRET[4:]}{SECRET}", "formatted"),
    ("•" * 20, "formatted"),
)
def test_what_can_be_no_key_is_refused_without_quoting_it(pasted: str, words: str) -> None:
    ring = Ring()
    keys = store(ring)
    with pytest.raises(KeyRefused, match=words) as raised:
        keys.keep("A", pasted)
    assert str(raised.value).endswith(".") and ring.calls == [] and keys.find(["A"]) == ("", "none")
    lines = [str(raised.value), repr(raised.value), *texts_of(raised.value.__cause__ or raised.value.__context__)]
    assert not places_with(SECRET, texts=lines)


def test_a_variable_or_a_keyring_entry_that_can_be_no_key_is_told_of_and_not_used() -> None:
    """Such a key would end up in an HTTP header, and in the text of the error about that."""
    keys = store(Ring(A="kéy", B="good"), {"B": f"{SECRET}\x01{SECRET}"})
    assert keys.find(["A"]) == ("", "none") and "keyring holds can't be a key" in keys.trouble
    assert keys.find(["B"]) == ("good", "keyring")
    assert keys.find(["C"]) == ("", "none") and keys.trouble == ""
    keys = store(Ring(), {"B": f"{SECRET}\x01{SECRET}"})
    assert keys.find(["B"]) == ("", "none") and "variable B" in keys.trouble
    assert not places_with(SECRET, texts=[keys.trouble])
    keys = store(Ring(), {"B": "   "})
    assert keys.find(["B"]) == ("", "none") and keys.trouble == ""


def test_nothing_that_holds_a_key_shows_it() -> None:
    keys = store(None)
    keys.keep("OPENAI_API_KEY", SECRET)
    assert repr(keys) == str(keys) == "KeyStore(OPENAI_API_KEY in memory)"
    assert not places_with(SECRET, texts=[repr(vars(keys)), f"{keys!s}"])
    with pytest.raises((TypeError, AttributeError)):
        pickle.dumps(keys)


def _ring_class(module: str, name: str, priority: float) -> type:
    def raises(self: Any, *words: str) -> None:
        raise AssertionError("it must never be called")

    body = {
        "get_password": raises,
        "set_password": raises,
        "delete_password": raises,
        "priority": priority,
        "__module__": module,
    }
    base = keyring.backend.KeyringBackend
    with pytest.MonkeyPatch.context() as patch:  # what is made here must not become one of the system's keyrings
        patch.setattr(keyring.backend.KeyringBackendMeta, "_register", lambda cls: None)
        return type(base)(name, (base,), body)


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> Any:
    def choose(ring: Any) -> None:
        monkeypatch.setattr(keyring.core, "_keyring_backend", ring)

    return choose


PLAINTEXT = ("keyrings.alt.file", "PlaintextKeyring", 0.5)
ENCRYPTED = ("keyrings.alt.file", "EncryptedKeyring", 0.6)  # it would ask for a password on the terminal
SYSTEM = ("keyring.backends.SecretService", "Keyring", 5)


@pytest.mark.parametrize("kind", [PLAINTEXT, ENCRYPTED, ("mine", "Own", 9)])
def test_a_keyring_that_is_not_the_systems_own_is_never_used(chosen: Any, kind: tuple[str, str, float]) -> None:
    chosen(_ring_class(*kind)())
    keys = KeyStore(environment={})
    assert keys.find(["A"]) == ("", "none") and keys.trouble == ""
    assert keys.keep("A", "key") == "memory"
    assert f"({kind[0]}.{kind[1]}) is not the operating system's own" in keys.trouble
    assert keys.forget(["A"]) == Forgotten(True, "none")


@pytest.mark.parametrize("ring", [fail.Keyring, null.Keyring])
def test_a_keyring_that_keeps_nothing_counts_as_none(chosen: Any, ring: Any) -> None:
    chosen(ring())
    keys = KeyStore(environment={})
    assert keys.keep("A", "key") == "memory" and "No keyring is running" in keys.trouble


def test_a_chain_of_keyrings_is_looked_into(chosen: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, system = _ring_class(*PLAINTEXT)(), _ring_class(*SYSTEM)()

    class Chain(chainer.ChainerBackend):
        backends: Any = [plain, system]

    monkeypatch.setattr(Chain, "backends", [plain, system])
    chosen(Chain())
    assert system_keyring() is system
    monkeypatch.setattr(Chain, "backends", [plain])
    assert KeyStore(environment={}).keep("A", "key") == "memory"
    monkeypatch.setattr(Chain, "backends", [])
    keys = KeyStore(environment={})
    assert keys.keep("A", "key") == "memory" and "No keyring is running" in keys.trouble
    keyring.backend.KeyringBackend._classes.discard(Chain)  # type: ignore[attr-defined]


def test_a_keyring_named_by_a_variable_that_is_not_there_is_none(monkeypatch: pytest.MonkeyPatch, chosen: Any) -> None:
    chosen(None)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyrings.alt.file.PlaintextKeyring")
    keys = KeyStore(environment={})
    assert keys.keep("A", "key") == "memory" and "No keyring is running" in keys.trouble
    module = types.ModuleType("keyrings.alt.file")
    module.PlaintextKeyring = _ring_class(*PLAINTEXT)  # type: ignore[attr-defined]
    for name, one in (
        ("keyrings", types.ModuleType("keyrings")),
        ("keyrings.alt", types.ModuleType("keyrings.alt")),
        ("keyrings.alt.file", module),
    ):
        monkeypatch.setitem(sys.modules, name, one)
    assert keys.keep("A", "key") == "memory" and "not the operating system's own" in keys.trouble


def test_windows_is_not_given_more_than_it_takes() -> None:
    ring = Ring()
    ring.__class__ = type("WinVaultKeyring", (Ring,), {"__module__": "keyring.backends.Windows"})
    keys = store(ring)
    assert keys.keep("A", "k" * 1280) == "keyring"
    assert keys.keep("A", "k" * 1281) == "memory" and "1,280 characters" in keys.trouble
