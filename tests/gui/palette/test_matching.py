"""What is typed finds titles by their letters in order, best at the beginnings of words, and the recent ones first."""

from __future__ import annotations

import pytest

from app.gui.palette.command import Command
from app.gui.palette.delegate import caps_of
from app.gui.palette.ranking import MOST, MOST_RECENT, match, ranked, with_newest


def command(title: str, kind: str = "command", place: str = "") -> Command:
    return Command(title, "", lambda: None, kind, place)  # type: ignore[arg-type]


def titles(typed: str, *commands: Command, recent: tuple[str, ...] = ()) -> list[str]:
    return [one.title for one, _ in ranked(typed, commands, recent)]


def marked(typed: str, title: str) -> str:
    found = match(typed, title)
    assert found is not None
    return "".join(letter.upper() if place in found.places else letter for place, letter in enumerate(title.lower()))


@pytest.mark.parametrize(
    ("typed", "title", "shown"),
    [
        ("mute", "Mute the microphone", "MUTE the microphone"),
        ("mic", "Mute the microphone", "mute the MICrophone"),
        ("phone", "Mute the microphone", "mute the microPHONE"),
        ("mtm", "Mute the microphone", "Mute The Microphone"),
        ("micro mute", "Mute the microphone", "MUTE the MICROphone"),
        ("uber", "Über uns", "ÜBER uns"),
        ("Ü", "uber", "Uber"),
        ("strasse", "Straße", None),
        ("etm", "Mute the microphone", "mutE The Microphone"),
        ("zebra", "Mute the microphone", None),
        ("mute zebra", "Mute the microphone", None),
    ],
)
def test_letters_are_found_where_people_look_for_them(typed: str, title: str, shown: str | None) -> None:
    if shown is None:
        assert match(typed, title) is None
    else:
        assert marked(typed, title) == shown


def test_beginnings_go_before_insides_and_these_before_single_letters() -> None:
    found = titles("st", command("Last"), command("Set up KAME"), command("Show the style"), command("Stop"))
    assert found == ["Stop", "Show the style", "Last", "Set up KAME"]


def test_the_name_of_a_page_finds_what_is_on_it_after_all_titles() -> None:
    commands = command("Theme", "setting", "General"), command("General remarks"), command("Stop")
    assert titles("gen", *commands) == ["General remarks", "Theme"]
    assert titles("theme general", *commands) == ["Theme"]
    assert titles("neral", *commands) == ["General remarks"]  # inside of a place's word is no match


def test_nothing_typed_shows_the_recent_ones_and_then_the_menus() -> None:
    theme, talk = command("Theme", "setting"), command("A talk", "conversation")
    commands = command("New"), command("Stop"), theme, talk
    assert titles("", *commands) == ["New", "Stop"]
    assert titles("", *commands, recent=(talk.id, "command::Stop")) == ["A talk", "Stop", "New"]


def test_a_recent_one_goes_before_others_that_fit_as_well() -> None:
    commands = command("Keep one"), command("Keep two"), command("Last keep")
    assert titles("keep", *commands, recent=("command::Keep two", "command::Last keep")) == [
        "Keep two",
        "Keep one",
        "Last keep",
    ]


def test_recent_ones_are_few_and_each_once_and_the_list_is_bounded() -> None:
    recent: list[str] = []
    for number in range(40):
        recent = with_newest(recent, f"command::{number % 20}")
    assert recent == [f"command::{number}" for number in range(19, 19 - MOST_RECENT, -1)]
    assert len(ranked("a", [command(f"a{number}") for number in range(500)], [])) == MOST


@pytest.mark.parametrize(
    ("keys", "caps"),
    [("Ctrl+Shift+N", ["Ctrl", "Shift", "N"]), ("Ctrl++", ["Ctrl", "+"]), ("F1", ["F1"]), ("+", ["+"]), ("", [])],
)
def test_each_key_of_a_combination_has_a_cap(keys: str, caps: list[str]) -> None:
    assert caps_of(keys) == caps
