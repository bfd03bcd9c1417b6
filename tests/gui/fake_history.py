"""A history in memory, which keeps what is promised of one, and fails when a test wants it to."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from app.conversation import events as e
from app.history.base import ConversationView, ExportFormat, KeptTalk, Setup
from app.session.control import BackendChoice, UserError

SUFFIXES: dict[ExportFormat, str] = {"markdown": ".md", "json": ".json", "srt": ".srt", "wav": ".wav"}


class FakeLog:
    """A talk that is being written down."""

    def __init__(self) -> None:
        self.events: list[e.Event] = []
        self.ended = False

    def put(self, event: e.Event) -> None:
        self.events.append(event)

    def end(self) -> None:
        self.ended = True


class FakeHistory:
    """`views` as they are kept, with the turns' words in `texts`; `refusals` and `gates` by the name of a call.

    `calls`: what was begun, in its order. `done`: what has come to its end.
    """

    def __init__(self, *views: ConversationView, now: float = 0.0) -> None:
        self.views = {view.key: view for view in views}
        self.texts: dict[str, str] = {}
        self.logs: dict[str, list[FakeLog]] = {}
        self.removed: dict[str, ConversationView] = {}
        self.trouble = self.notice = ""
        self.calls: list[tuple[object, ...]] = []
        self.done: list[str] = []
        self.refusals: dict[str, Exception] = {}
        self.gates: dict[str, asyncio.Event] = {}
        self.now = now
        self.closed = False

    def begin(self, key: str, setup: Setup, folder: Path | None = None) -> FakeLog:
        self.calls.append(("begin", key, setup, folder))
        self.views.setdefault(key, ConversationView(key, created=self.now, changed=self.now, setup=setup))
        log = FakeLog()
        self.logs.setdefault(key, []).append(log)
        return log

    async def conversations(self, words: str = "") -> tuple[ConversationView, ...]:
        await self._do("conversations", words)
        views = sorted(self.views.values(), key=lambda view: view.changed, reverse=True)
        if not words:
            found = views
        else:
            found = [hit for view in views if (hit := self._found(view, words.lower().split())) is not None]
        self.done.append("conversations")
        return tuple(found)

    def _found(self, view: ConversationView, words: list[str]) -> ConversationView | None:
        title, text = view.title.lower(), self.texts.get(view.key, "")
        if not all(word in title or word in text.lower() for word in words):
            return None
        snippet = text
        for word in words:
            at = snippet.lower().find(word)
            if at >= 0:
                snippet = f"{snippet[:at]}\x02{snippet[at : at + len(word)]}\x03{snippet[at + len(word) :]}"
        return replace(view, snippet=snippet if "\x02" in snippet else "")

    async def talks(self, key: str) -> tuple[KeptTalk, ...]:
        await self._do("talks", key)
        if key not in self.views:
            raise UserError("This conversation is no longer there.")
        return tuple(KeptTalk(self.views[key].created, tuple(log.events)) for log in self.logs.get(key, []))

    async def rename(self, key: str, title: str) -> None:
        await self._do("rename", key, title)
        automatic = " ".join(self.texts.get(key, "").split()[:4])
        self.views[key] = replace(self.views[key], title=title or automatic, named=bool(title))
        self.done.append("rename")

    async def pin(self, key: str, pinned: bool) -> None:
        await self._do("pin", key, pinned)
        self.views[key] = replace(self.views[key], pinned=pinned)

    async def move(self, key: str, folder: str) -> None:
        await self._do("move", key, folder)
        self.views[key] = replace(self.views[key], folder=folder)

    async def rename_folder(self, folder: str, name: str) -> None:
        await self._do("rename_folder", folder, name)
        self.views = {
            key: replace(view, folder=name) if view.folder == folder else view for key, view in self.views.items()
        }

    async def keep_setup(self, key: str, setup: Setup) -> None:
        await self._do("keep_setup", key, setup)
        self.views[key] = replace(self.views[key], setup=setup)

    async def duplicate(self, key: str, setup: Setup) -> ConversationView:
        await self._do("duplicate", key, setup)
        copy = replace(self.views[key], key=f"{key} again", setup=setup, changed=self.now, sound=False, pinned=False)
        self.views[copy.key] = copy
        self.texts[copy.key] = self.texts.get(key, "")
        return copy

    async def remove(self, keys: Sequence[str]) -> None:
        await self._do("remove", tuple(keys))
        for key in keys:
            self.removed[key] = self.views.pop(key)
        self.done.append("remove")

    async def restore(self, keys: Sequence[str]) -> None:
        await self._do("restore", tuple(keys))
        for key in keys:
            self.views[key] = self.removed.pop(key)
        self.done.append("restore")

    async def purge(self) -> None:
        await self._do("purge")
        self.removed.clear()
        self.done.append("purge")

    async def export(self, key: str, path: Path, form: ExportFormat) -> str:
        await self._do("export", key, path, form)
        view = self.views[key]
        if form == "wav" and not view.sound:
            raise UserError(f"No sound of “{view.title}” was kept.")
        words = json.dumps({"key": key, "title": view.title}) if form == "json" else self.texts.get(key, view.title)
        path.write_text(words, encoding="utf-8")
        return f"“{view.title}” was written to {path}."

    async def bring_in(self, path: Path) -> ConversationView:
        await self._do("bring_in", path)
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
            view = ConversationView(f"from {path.name}", str(kept["title"]), changed=self.now, turns=2)
        except (OSError, ValueError, KeyError, TypeError):
            raise UserError(f"“{path.name}” holds no conversation. Choose a file that this app has exported.") from None
        self.views[view.key] = view
        return view

    async def close(self) -> None:
        self.removed.clear()
        self.closed = True

    async def _do(self, name: str, *values: object) -> None:
        self.calls.append((name, *values))
        if name in self.gates:
            await self.gates[name].wait()
        else:
            await asyncio.sleep(0)
        if name in self.refusals:
            raise self.refusals.pop(name)


_TITLES = (
    "Heights of the Elbrus",
    "A soup from what is left",
    "Packing list for Lisbon",
    "Why leaves turn red",
    "The tax form, page three, and which of the two boxes is meant for people who work abroad",
    "Names for a grey cat",
    "Bread without kneading",
    "Übung macht den Meister",
    "First words in Georgian",
    "How a heat pump works",
)

_BACKENDS = ("gemma3:4b", "claude-haiku-4-5", "gpt-4.1-mini", "Qwen/Qwen3-30B-A3B-Instruct-2507")


def some(count: int, now: float, *, apart_hours: float = 7.0) -> FakeHistory:
    """A history with `count` conversations, the newest an hour ago."""
    views = [
        ConversationView(
            f"c{place}",
            _TITLES[place % len(_TITLES)] + (f" {place}" if place >= len(_TITLES) else ""),
            created=now - 3600 * (1.5 + place * apart_hours),
            changed=now - 3600 * (1 + place * apart_hours),
            turns=2 + place % 9,
            backends=(_BACKENDS[place % len(_BACKENDS)],),
            sound=place % 3 == 0,
            setup=Setup(BackendChoice("ollama", "gemma3:4b")),
        )
        for place in range(count)
    ]
    service = FakeHistory(*views, now=now)
    for view in views:
        service.texts[view.key] = (
            f"Tell me about this: {view.title}. Well, there is a lot to say about it, and the mountain of things that "
            "nobody has asked for is higher still."
        )
    return service
