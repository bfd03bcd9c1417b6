"""The price list: how a model is found in it, what a request costs, and the user's own list over the app's."""

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.backend.base import Usage
from app.backend.prices import Price, load_prices, read_prices, read_users, write_prices
from app.backend.scripted import ScriptedAnswer, ScriptedBackend
from app.platform.installation import resource
from app.services import backends, price_service
from app.services.price_service import PriceRow, PriceService
from app.session.control import BackendChoice, UserError
from tests.support.raising import raising
from tests.support.tables import cases


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "prices.json"


@pytest.fixture
def book(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PriceService]:
    for module in (price_service, backends):
        monkeypatch.setattr(module, "prices_path", lambda: path)
    backends.price_table.cache_clear()
    yield PriceService()
    backends.price_table.cache_clear()


def models(path: Path) -> dict[str, dict[str, float]]:
    return json.loads(path.read_text("utf-8"))["models"]


def test_what_is_written_is_read_back_and_takes_its_folder_along(path: Path) -> None:
    prices = {"mine": Price(0.1, 0.025, 2.5), "größer/x": Price(3, 3, 3)}
    write_prices(path, prices)
    assert read_users(path) == (prices, "")
    assert models(path) == {"mine": {"in": 0.1, "cached": 0.025, "out": 2.5}, "größer/x": {"in": 3, "out": 3}}
    write_prices(path, {})
    assert read_users(path) == ({}, "") and os.listdir(path.parent) == ["prices.json"]


def test_what_else_the_user_has_written_into_the_file_stays(path: Path) -> None:
    path.parent.mkdir()
    path.write_text('{"version": 1, "about": "a contract", "models": {"x": {"in": 1, "out": 1}}}')
    write_prices(path, {"y": Price(1, 1, 1)})
    assert json.loads(path.read_text()) == {"version": 1, "about": "a contract", "models": {"y": {"in": 1, "out": 1}}}


@pytest.mark.parametrize("cached", ["", ', "cached": null', ', "cached": ""', ', "cached": 4'])
def test_without_a_price_of_its_own_the_cache_costs_as_much_as_reading(path: Path, cached: str) -> None:
    path.parent.mkdir()
    path.write_text(f'{{"version": 1, "models": {{" X ": {{"in": 4, "out": 5{cached}}}}}}}')
    assert read_prices(path) == {"x": Price(4, 4, 5)}


BROKEN = (
    b"[" * 100_000,
    b"[]",
    b"\xff\xfe\x00",
    b'{"version": 1, "models": 3}',
    b'{"version": 1, "models": {"x": {}}}',
    b'{"version": 1, "models": {"x": {"in": "much", "out": 1}}}',
    b'{"version": 1, "models": {"x": {"in": -1, "out": 1}}}',
    b'{"version": 1, "models": {"x": {"in": NaN, "out": 1}}}',
    b'{"version": 1, "models": {" ": {"in": 1, "out": 1}}}',
)


@pytest.mark.parametrize("content", BROKEN, ids=range(len(BROKEN)))
def test_a_broken_table_is_reported_and_kept_beside_the_new_one(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    mine, problem = read_users(path)
    assert mine == {} and problem.startswith("Your price table can't be used") and problem.endswith(".")
    prices, told = load_prices(resource("prices.json"), path)
    assert str(path) in problem and told == problem
    assert prices.find("gpt-4.1") == Price(2, 0.5, 8), "the app's own list counts"
    assert path.read_bytes() == content, "to look at it changes nothing"
    write_prices(path, {"y": Price(1, 1, 1)})
    assert read_users(path) == ({"y": Price(1, 1, 1)}, "")
    assert path.with_name("prices.json.broken").read_bytes() == content


@pytest.mark.parametrize("version", [0, 2])
def test_a_table_of_another_version_is_reported_and_kept_beside_the_new_one(path: Path, version: int) -> None:
    path.parent.mkdir()
    content = json.dumps({"version": version, "models": {"gpt-4.1": {"in": 1, "out": 1}}})
    path.write_text(content)
    prices, told = load_prices(resource("prices.json"), path)
    assert f"another version of KAME has written it (in format {version}" in told
    assert prices.find("gpt-4.1") == Price(2, 0.5, 8) and path.read_text() == content
    write_prices(path, {"y": Price(1, 1, 1)})
    assert read_users(path) == ({"y": Price(1, 1, 1)}, "")
    assert path.with_name(f"prices.json.version-{version}").read_text() == content


def test_a_write_that_fails_leaves_the_old_table(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_prices(path, {"x": Price(1, 1, 1)})
    monkeypatch.setattr(os, "replace", raising(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        write_prices(path, {"y": Price(1, 1, 1)})
    assert list(models(path)) == ["x"] and os.listdir(path.parent) == ["prices.json"]


def test_the_apps_rows_and_the_users_are_distinguished(book: PriceService, path: Path) -> None:
    own = read_prices(resource("prices.json"))
    write_prices(path, {"gpt-4.1": Price(9, 9, 9), "mine": Price(1, 0, 2)})
    rows, problem = book.prices()
    by_name = {row.model: row for row in rows}
    assert problem == "" and list(by_name) == [*own, "mine"]
    assert by_name["gpt-4.1"] == PriceRow("gpt-4.1", Price(9, 9, 9), Price(2, 0.5, 8))
    assert by_name["mine"] == PriceRow("mine", Price(1, 0, 2))
    assert by_name["gpt-5"].shipped == Price(1.25, 0.125, 10)
    book.keep_prices(rows, rows)
    assert list(models(path)) == ["gpt-4.1", "mine"]


def test_only_what_was_changed_is_kept_and_the_rest_is_as_in_the_file_now(book: PriceService, path: Path) -> None:
    path.parent.mkdir()
    rows = {"a": {"in": 1, "out": 1, "note": "x"}, "b": {"in": 2, "out": 2}, "c": {"in": 3, "out": 3}}
    path.write_text(json.dumps({"version": 1, "models": rows}))
    shown, _ = book.prices()
    path.write_text(json.dumps({"version": 1, "models": {**rows, "b": {"in": 7, "out": 7}, "n": {"in": 5, "out": 5}}}))
    kept = [
        replace(row, price=replace(row.price, tokens_out=9)) if row.model == "a" else row
        for row in shown
        if row.model != "c"
    ]
    book.keep_prices(kept, shown)
    assert models(path) == {"a": {"in": 1, "out": 9, "note": "x"}, "b": {"in": 7, "out": 7}, "n": {"in": 5, "out": 5}}


@pytest.mark.skipif(sys.platform == "win32", reason="links are for administrators there")
def test_each_broken_table_is_kept_and_a_link_stays_one(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir()
    real = tmp_path / "elsewhere.json"
    path.symlink_to(real)
    for content in ("{", "["):
        real.write_text(content)
        write_prices(path, {"y": Price(1, 1, 1)})
    assert path.is_symlink() and read_users(path)[0] == {"y": Price(1, 1, 1)}
    assert [(tmp_path / f"elsewhere.json.broken{n}").read_text() for n in ("", "-2")] == ["{", "["]


def test_a_mark_of_the_byte_order_is_no_fault(path: Path) -> None:
    path.parent.mkdir()
    path.write_text('{"version": 1, "models": {"x": {"in": 4, "out": 5}}}', "utf-8-sig")
    assert read_users(path) == ({"x": Price(4, 4, 5)}, "")


def test_a_saved_table_counts_at_once(book: PriceService) -> None:
    backend = ScriptedBackend(lambda request: ScriptedAnswer(()), name="S", model="mine-2026-01-01")
    usage, choice = Usage(1_000_000, 0, 0), BackendChoice("compatible", "mine-2026-01-01")
    assert backends.cost(backend, usage) is None and book.unpriced(choice) == "mine-2026-01-01"
    book.keep_prices([*book.prices()[0], PriceRow("mine", Price(4, 4, 4))], book.prices()[0])
    assert backends.cost(backend, usage) == 4 and book.unpriced(choice) is None
    book.keep_prices([row for row in book.prices()[0] if row.model != "mine"], book.prices()[0])
    assert backends.cost(backend, usage) is None


def test_a_table_that_can_not_be_saved_is_reported_and_the_old_one_counts_on(book: PriceService, path: Path) -> None:
    path.parent.write_text("a file where the folder should be")
    with pytest.raises(UserError, match="could not be saved") as told:
        book.keep_prices([PriceRow("mine", Price(4, 4, 4))], ())
    assert str(path.parent) in str(told.value) and str(told.value).endswith("save again.")
    assert "mine" not in [row.model for row in book.prices()[0]]


def test_a_price_counts_what_came_from_the_cache_and_what_nobody_knows(book: PriceService) -> None:
    assert Price(2.0, 0.5, 8.0).of(Usage(1_000_000, 500_000, 400_000)) == pytest.approx(1.2 + 0.2 + 4.0)
    for known in (("embedded", ""), ("ollama", "gemma3:4b"), ("openai", ""), ("openai", "gpt-5-mini"), ("gone", "x")):
        assert book.unpriced(BackendChoice(*known)) is None, known
    assert book.unpriced(BackendChoice("openai", "gpt-99")) == "gpt-99"
    assert book.unpriced(BackendChoice("compatible", "", "https://models.example/v1")) == ""
    for here in ("http://127.0.0.1:1/v1", "http://localhost/v1", "http://192.168.1.7:8080/v1"):
        assert book.unpriced(BackendChoice("compatible", "qwen", here)) is None, "one's own server costs nothing"


@cases(
    "model, tokens_in",
    ("gpt-4.1-mini", 0.4),
    ("gpt-4.1-mini-2025-04-14", 0.4),
    ("openai/gpt-4.1-mini", 0.4),
    ("claude-opus-4-1-20250805", 15.0),
    ("gemini-2.5-flash", 0.3),
    ("gemini-2.5-flash-lite", 0.1),
)
def test_the_price_of_a_model_and_of_its_dated_versions(model: str, tokens_in: float) -> None:
    prices, problem = load_prices(resource("prices.json"))
    assert not problem and prices.find(model).tokens_in == tokens_in  # type: ignore[union-attr]


@pytest.mark.parametrize("model", ["", "gemma3:4b", "gpt-5-turbo-ultra", "my-gpt-4.1", "gpt"])
def test_a_model_without_a_price_has_none(model: str) -> None:
    assert load_prices(resource("prices.json"))[0].find(model) is None
