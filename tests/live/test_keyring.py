"""A real Secret Service: keys kept, read by another process and forgotten; locked, frozen and absent."""

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.keyring import Service, secret_service
from tests.support.leaks import SECRET, places_with

STEPS = """
import json, logging, os, sys, time
from app.services.api_keys import KeyStore
logging.basicConfig(level=1)
logging.captureWarnings(True)
keys, out = KeyStore(deadline=float(os.environ.get("SECONDS", 5))), []
for step, *words in json.loads(os.environ["STEPS"]):
    started = time.monotonic()
    got = getattr(keys, step)(*words)
    key = got[0] if step == "find" else ""
    if step == "forget":
        got = ["", got.left] if got.found else ["", "nothing"]
    place = got if isinstance(got, str) else got[1]
    secret = os.environ["SECRET"]
    out.append([key == secret if key else None, place, keys.trouble, time.monotonic() - started])
print(json.dumps(out))
"""


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    # A short path: the name of a bus's socket has no more than 107 letters.
    with tempfile.TemporaryDirectory(prefix="kr") as folder, secret_service(Path(folder)) as made:
        yield made


def steps(service: Service, *wanted: list, env: dict[str, str] | None = None) -> list[list]:
    """Does `wanted` in a process of its own; per step: the right key or none, the place, the trouble, seconds."""
    environment = {"STEPS": json.dumps(wanted).replace(json.dumps(SECRET), '"@"'), "SECRET": SECRET, **(env or {})}
    code = STEPS.replace(
        'json.loads(os.environ["STEPS"])', 'json.loads(os.environ["STEPS"].replace("@", os.environ["SECRET"]))'
    )
    done = service.run(code, env=environment)
    assert done.returncode == 0, done.stderr
    assert not places_with(SECRET, texts=[done.stdout, done.stderr], folders=[service.folder])
    return json.loads(done.stdout)


def test_a_key_is_kept_read_by_another_process_and_forgotten(service: Service) -> None:
    [[_, place, trouble, _], [same, found, _, _]] = steps(
        service, ["keep", "OPENAI_API_KEY", SECRET], ["find", ["OPENAI_API_KEY"]]
    )
    assert (place, trouble, same, found) == ("keyring", "", True, "keyring")
    [[same, place, trouble, seconds], [other, nowhere, _, _]] = steps(
        service, ["find", ["X", "OPENAI_API_KEY"]], ["find", ["X"]]
    )
    assert (same, place, trouble) == (True, "keyring", "") and seconds < 3
    assert (other, nowhere) == (None, "none")
    first, again, gone = steps(
        service, ["forget", ["OPENAI_API_KEY"]], ["forget", ["OPENAI_API_KEY"]], ["find", ["OPENAI_API_KEY"]]
    )
    assert (first[1], again[1], gone[:2]) == ("none", "nothing", [None, "none"])


def test_keys_of_several_servers_lie_side_by_side_and_a_new_one_takes_an_olds_place(service: Service) -> None:
    made = steps(
        service,
        ["keep", "A", "one"],
        ["keep", "B", SECRET],
        ["keep", "A", "two"],
        ["find", ["B"]],
        ["forget", ["A"]],
        ["find", ["A"]],
        ["find", ["B"]],
        ["forget", ["B"]],
    )
    assert [step[1] for step in made] == ["keyring"] * 4 + ["none", "none", "keyring", "none"]
    assert made[3][0] is True and made[6][0] is True


def test_a_frozen_keyring_is_given_up_after_a_while_and_only_once(service: Service) -> None:
    service.freeze()
    try:
        first, then, kept, held = steps(
            service, ["find", ["A"]], ["find", ["A"]], ["keep", "A", SECRET], ["find", ["A"]], env={"SECONDS": "0.5"}
        )
    finally:
        service.thaw()
    assert 0.4 < first[3] < 4 and "does not answer" in first[2] and first[1] == "none"
    assert max(then[3], kept[3], held[3]) < 0.4, "only the first one waits"
    assert kept[1] == "memory" and "does not answer" in kept[2] and held[:2] == [True, "memory"]


def test_a_locked_keyring_is_a_sentence_and_memory(service: Service) -> None:
    steps(service, ["keep", "A", SECRET])
    service.lock()
    started = time.monotonic()
    find, keep, held, forget = steps(
        service, ["find", ["A"]], ["keep", "A", SECRET], ["find", ["A"]], ["forget", ["A"]]
    )
    assert time.monotonic() - started < 15
    assert find[:2] == [None, "none"] and "locked" in find[2]
    assert keep[1] == "memory" and "locked" in keep[2] and held[:2] == [True, "memory"]
    assert forget[1] == "keyring" and "locked" in forget[2]


@pytest.mark.parametrize("address", ["", "unix:path=/nowhere/at/all"])
def test_without_a_secret_service_memory_has_to_do(address: str) -> None:
    with tempfile.TemporaryDirectory(prefix="kr") as folder, secret_service(Path(folder), keyring=False) as bus:
        env = {"DBUS_SESSION_BUS_ADDRESS": address} if address else {}
        find, keep, held, forget = steps(
            bus, ["find", ["A"]], ["keep", "A", SECRET], ["find", ["A"]], ["forget", ["A"]], env=env
        )
    assert find[:3] == [None, "none", ""] and keep[1] == "memory" and "No keyring is running" in keep[2]
    assert held[:2] == [True, "memory"] and forget[1] == "none"
