"""`models`, `ask` and `keys` as they are typed: in this process, and as the real command line in a child."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import types
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import app.backend.attempts
import app.backend.ollama
from app.backend import PROVIDERS
from app.cli.parser import main
from app.services import api_keys
from app.services.api_keys import KeyringError, KeyStore
from tests.support.child import run_python
from tests.support.keyring import Service, secret_service
from tests.support.leaks import SECRET, all_logs, places_with, quoting_peer
from tests.support.servers import Script, closed_port_url, peer
from tests.support.tables import cases

ROOT = Path(__file__).resolve().parents[2]
VARIABLES = [name for spec in PROVIDERS.values() for name in spec.key_variables]


def no_keyring() -> Any:
    raise KeyringError("No keyring is running on this machine.")


@pytest.fixture(autouse=True)
def nobodys_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the keys of the user who runs the tests, and without waits between retries."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(api_keys, "_store", KeyStore(open_keyring=no_keyring))
    monkeypatch.setattr(app.backend.attempts, "RETRY_SECONDS", 0.01)


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict]:
    code = main([*words, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_one_servers_models_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    script = Script()
    script.models = ["tiny", "large"]
    with peer(script) as url:
        code, document = run(capsys, "models", "list", "--base-url", f"{url}/v1")
        assert main(["models", "list", "--provider", "compatible", "--base-url", f"{url}/v1"]) == 0
        assert capsys.readouterr().out == f"Another server at {url}/v1\n  tiny\n  large\n"
    [row] = document["providers"]
    assert code == 0 and row["models"] == ["tiny", "large"] and row["asked"] and row["problem"] == ""


def test_all_is_asked_or_says_why_not(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    script, cloud = Script(), Script()
    cloud.models = ["gemini-9"]
    with peer(script, ollama=True) as url, peer(cloud) as other:
        monkeypatch.setitem(PROVIDERS, "ollama", replace(PROVIDERS["ollama"], default_url=url))
        monkeypatch.setattr(app.backend.ollama, "DEFAULT_URL", url)
        monkeypatch.setitem(PROVIDERS, "google", replace(PROVIDERS["google"], default_url=f"{other}/v1"))
        monkeypatch.setitem(PROVIDERS, "anthropic", replace(PROVIDERS["anthropic"], default_url=closed_port_url()))
        monkeypatch.setenv("GOOGLE_API_KEY", "key")
        monkeypatch.setenv("ANTHROPIC_API_KEY", "key")
        code, document = run(capsys, "models", "list", "--provider", "all")
    rows = {row["provider"]: row for row in document["providers"]}
    assert code == 0 and list(rows) == list(PROVIDERS)
    assert rows["embedded"]["models"] == ["smollm2-135m"]
    assert rows["ollama"]["models"] == ["tiny"], rows["ollama"]
    assert rows["google"]["models"] == ["gemini-9"], rows["google"]
    assert rows["openai"]["models"] == list(PROVIDERS["openai"].suggestions) and not rows["openai"]["asked"]
    assert "keys set openai" in rows["openai"]["problem"] and "--base-url" in rows["compatible"]["problem"]
    assert rows["anthropic"]["models"] == [] and rows["anthropic"]["problem"].endswith(".")


@cases(
    "words, sentence",
    (["--base-url", "nonsense"], "is not a server address"),
    (["--provider", "compatible"], "--base-url"),
    (["--base-url", "CLOSED"], "Start it"),
)
def test_a_server_with_no_list_is_told(capsys: pytest.CaptureFixture[str], words: list[str], sentence: str) -> None:
    words = [closed_port_url() + "/v1" if word == "CLOSED" else word for word in words]
    code, document = run(capsys, "models", "list", *words)
    assert code == 2 and not document["ok"] and sentence in document["providers"][0]["problem"]


def test_an_answer_goes_to_standard_output_and_its_numbers_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    script = Script((" Paris", " is", " it", "."))
    with peer(script) as url:
        assert main(["ask", "--base-url", f"{url}/v1", "Where?"]) == 0
    told = capsys.readouterr()
    assert told.out == "Paris is it.\n"
    assert re.match(r"tiny at 127\.0\.0\.1:\d+: first word after \d+\.\d\d s", told.err) and told.err.endswith(".\n")
    body = script.requests[-1]
    assert [m["role"] for m in body["messages"]] == ["system", "user"] and body["messages"][1]["content"] == "Where?"
    assert "voice assistant" in body["messages"][0]["content"]


def test_what_is_asked_for_is_passed_on(capsys: pytest.CaptureFixture[str]) -> None:
    script = Script(("Arr", "."))
    with peer(script) as url:
        options = f"--backend compatible --base-url {url}/v1 --model large --temperature 1.5 --max-tokens 7".split()
        code, document = run(capsys, "ask", *options, "--persona", "You are a pirate.", "Who are you?")
    body = script.requests[-1]
    told = body["messages"][0]["content"]
    assert told.startswith("You are a pirate. ") and "read aloud" in told and "voice assistant" not in told
    assert (body["model"], body["temperature"]) == ("large", 1.5) and 7 in body.values()
    assert code == 0 and document["answer"] == "Arr." and document["model"] == "large" and document["words"] == 1
    assert 0 < document["first_seconds"] <= document["seconds"]


@cases(
    "words, sentence",
    (["--backend", "openai", "Hi"], "no API key for OpenAI"),
    (["--base-url", "CLOSED", "Hi"], "Start it"),
    (["--base-url", "CLOSED", "  "], "no question"),
)
def test_what_is_wrong_is_a_sentence(capsys: pytest.CaptureFixture[str], words: list[str], sentence: str) -> None:
    words = [closed_port_url() + "/v1" if word == "CLOSED" else word for word in words]
    code, document = run(capsys, "ask", *words)
    assert code == 2 and not document["ok"] and sentence in document["error"]


def test_a_break_in_mid_answer_keeps_what_came_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    script = Script(("Paris", " is", " it."))
    script.break_after = 2
    with peer(script) as url:
        assert main(["ask", "--base-url", f"{url}/v1", "Where?"]) == 2
    told = capsys.readouterr()
    assert told.out == "Paris is\n" and "broke off" in told.err


@pytest.mark.parametrize("given", ["Où est-il ?".encode(), b"\xef\xbb\xbfWhere?\r\n"])
def test_a_question_can_come_in_through_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, given: bytes
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given), encoding="cp1252"))
    script = Script()
    with peer(script) as url:
        assert run(capsys, "ask", "--base-url", f"{url}/v1", "-")[0] == 0
    assert script.requests[-1]["messages"][-1]["content"] == given.decode("utf-8-sig").strip()


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_it_streams_and_ctrl_c_ends_it_quietly() -> None:
    script = Script(tuple(f" word{n}" for n in range(4000)))
    script.delay = 0.01
    with peer(script, ollama=True) as url:
        # So many words take longer than a busy machine sleeps.
        options = ["--backend", "ollama", "--base-url", url, "--max-tokens", "4000"]
        process = subprocess.Popen(
            [sys.executable, "-m", "app", "ask", *options, "Where?"],
            cwd=ROOT,
            env={**os.environ, "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout.read(5) == "word0", "the first word comes while the others are still to come"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert process.returncode == 0 and out.endswith("\n") and err == ""
        assert script.closed_early.wait(5), "the server still sends"


@pytest.mark.slow
def test_the_embedded_backend_answers_on_the_command_line() -> None:
    done = run_python("-m", "app", "ask", "What is the capital of France?")
    assert done.returncode == 0 and "Paris" in done.stdout, done.stderr
    assert "Built-in: first word after" in done.stderr


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with tempfile.TemporaryDirectory(prefix="kc") as folder, secret_service(Path(folder)) as made:
        for name in VARIABLES:
            made.environment.pop(name, None)
        yield made


def typed(service: Service, *lines: str) -> tuple[list[tuple[int, str]], str]:
    """Types several commands, all in one process: of each its exit code and its output; and all of standard error."""
    code = (
        "import json, logging, sys\nfrom app.cli.parser import main\nlogging.basicConfig(level=1)\n"
        "for line in sys.argv[1:]: print('\\0', main(line.split()), '\\0', sep='')"
    )
    done = run_python("-c", code, *lines, env=service.environment)
    assert done.returncode == 0, done.stderr
    assert not places_with(SECRET, texts=[done.stdout, done.stderr], folders=[service.folder])
    pieces = done.stdout.split("\0")
    return [(int(code), out.lstrip("\n")) for out, code in zip(pieces[::2], pieces[1::2], strict=False)], done.stderr


ON_A_TERMINAL = "import os, pty, sys; raise SystemExit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"


def set_on_a_terminal(service: Service, *words: str) -> str:
    """Types the key when it is asked for; what is to be read on the terminal."""
    process = subprocess.Popen(
        [sys.executable, "-c", ON_A_TERMINAL, sys.executable, "-m", "app", "keys", "set", *words],
        cwd=ROOT,
        env=service.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.stdin is not None and process.stdout is not None
    said = b""
    while b"not shown): " not in said:
        piece = process.stdout.read1(1024)  # type: ignore[attr-defined]
        assert piece, said
        said += piece
    process.stdin.write(SECRET.encode() + b"\r")
    process.stdin.flush()
    rest, _ = process.communicate(timeout=20)
    assert process.returncode == 0, said + rest
    return (said + rest).decode()


@pytest.mark.slow
def test_a_key_is_typed_unseen_then_listed_used_and_forgotten(service: Service) -> None:
    with quoting_peer() as (url, seen):
        base = f"--base-url {url}/v1"
        text = set_on_a_terminal(service, "compatible", *base.split())
        assert f"The key for {url.removeprefix('http://')} is in the system's keyring now." in text
        assert not places_with(SECRET, texts=[text], folders=[service.folder])
        # Another process. The server quotes the key in all its answers; see `typed` for where it must not be.
        (listed, asked, models, tested, forgotten), error = typed(
            service,
            f"keys list compatible {base}",
            f"ask {base} --model tiny Hi",
            f"models list {base}",
            f"keys test compatible {base}",
            f"keys forget compatible {base} --json",
        )
    assert listed == (0, "compatible   in the system's keyring\n")
    assert asked[0] == models[0] == tested[0] == 2 and seen.count(SECRET) >= 3
    assert error.count("refuses the API key") == 2 and "refuses the API key" in models[1] and "DEBUG" in error
    assert forgotten[0] == 0 and json.loads(forgotten[1])["place"] == "none"


def test_a_key_can_be_piped_in(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    held: dict[str, str] = {}
    ring = types.SimpleNamespace(
        get_password=lambda service, name: held.get(name),
        set_password=lambda service, name, key: held.update({name: key}),
    )
    monkeypatch.setattr(api_keys, "_store", KeyStore(open_keyring=lambda: ring))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbf" + SECRET.encode() + b"\r\n")))
    code, document = run(capsys, "keys", "set", "google")
    assert code == 0 and (document["place"], document["name"]) == ("keyring", "GEMINI_API_KEY")
    assert held == {"GEMINI_API_KEY": SECRET} and not places_with(SECRET, texts=[json.dumps(document)])


def test_a_key_soon_gone_is_not_kept(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SECRET.encode())))
    with all_logs() as logs:
        code, document = run(capsys, "keys", "set", "openai")
    assert code == 2 and "No keyring is running" in document["error"]
    assert "Set the environment variable OPENAI_API_KEY instead" in document["error"]
    assert not places_with(SECRET, texts=[json.dumps(document), *logs])


@cases(
    "given, words, sentence",
    (f"{SECRET}\n{SECRET}\n", ["set", "openai"], "line ends"),
    (SECRET, ["set", "embedded"], "takes no key"),
    (SECRET, ["set", "compatible"], "server's address"),
    ("", ["test", "openai"], "no API key"),
)
def test_what_can_not_be_done_with_a_key_is_a_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, given: str, words: list[str], sentence: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
    code, document = run(capsys, "keys", *words)
    assert code == 2 and sentence in document["error"]
    assert not places_with(SECRET, texts=[json.dumps(document)])


def test_a_terminal_that_can_not_hide_a_key_is_not_used(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import getpass
    import warnings

    def shown(prompt: str) -> str:
        warnings.warn("Can not control echo on the terminal.", getpass.GetPassWarning, stacklevel=2)
        return SECRET

    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(getpass, "getpass", shown)
    code, document = run(capsys, "keys", "set", "openai")
    assert code == 2 and "can't hide" in document["error"]


def test_keys_are_listed_and_never_shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", SECRET)
    api_keys.key_store().keep("OPENAI_API_KEY", SECRET)
    code, document = run(capsys, "keys", "list")
    places = {row["provider"]: row["place"] for row in document["keys"]}
    assert code == 0 and places == {"openai": "memory", "anthropic": "none", "google": "environment"}
    assert main(["keys", "list"]) == 0
    told = capsys.readouterr()
    assert "google       in the environment (GEMINI_API_KEY or GOOGLE_API_KEY)" in told.out
    assert not places_with(SECRET, texts=[json.dumps(document), told.out, told.err])


@pytest.mark.parametrize(("provider", "status"), [("openai", 401), ("openai", 500), ("anthropic", 401)])
def test_no_command_gives_a_key_away(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, provider: str, status: int
) -> None:
    with quoting_peer(status) as (url, seen), all_logs() as logs:
        monkeypatch.setitem(PROVIDERS, provider, replace(PROVIDERS[provider], default_url=f"{url}/v1"))
        monkeypatch.setenv(PROVIDERS[provider].key_variables[0], SECRET)
        main(["ask", "--backend", provider, "Hi"])
        main(["models", "list", "--provider", provider])
        for what in ("test", "list", "forget"):
            main(["keys", what, provider])
    told = capsys.readouterr()
    assert seen.count(SECRET) >= 3 and "Traceback" not in told.err
    assert not places_with(SECRET, texts=[told.out, told.err, *logs])
