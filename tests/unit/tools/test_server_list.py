"""The list of servers: changed entry by entry, with all the rest of the file kept, and never broken."""

import json
import os
import stat
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from app.tools.base import Effect, ToolError
from app.tools.mcp_tool import McpServer, offers_of
from app.tools.server_list import ServerEntry, change_list, named_servers, read_list, server_of, wrong_entry
from app.tools.toolbox import make_toolbox
from tests.support.raising import raising
from tests.support.tables import cases

FILES = {"command": "npx", "args": ["-y", "server"], "env": {"KEY": "topsecret"}, "timeout": 5}
DEEP = pytest.param(b"[" * 100_000, id="deep")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "mcp.json"


def given(path: Path, entries: Any, **more: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"mcpServers": entries, **more}), "utf-8")


def held(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def test_all_entries_are_read_and_no_value_of_their_env(path: Path) -> None:
    assert read_list(path).entries == () and read_list(path).trouble == ""
    given(
        path,
        {
            "files": FILES,
            "off": {"url": "https://example.org/mcp", "disabled": True},
            "old": {"url": "https://example.org/sse", "type": "sse"},
            "odd": 3,
        },
    )
    files, off, old, odd = read_list(path).entries
    assert files == ServerEntry("files", "program", "npx", ("-y", "server"), kept="files", variables=("KEY",))
    assert (off.kind, off.url, off.off, off.trouble) == ("address", "https://example.org/mcp", True, "")
    assert "“old” speaks SSE" in old.trouble and old.trouble.endswith("so it is not used.")
    assert "“odd” is no object" in odd.trouble
    assert read_list(path).usable == ("files",)
    assert "topsecret" not in repr(read_list(path))
    assert named_servers(path, ["files"]) == [McpServer("files", "npx", ("-y", "server"), {"KEY": "topsecret"})]


def test_a_wrong_entry_leaves_the_others(path: Path) -> None:
    wrong: dict[str, Any] = {
        "a": "topsecret",
        "c": {"command": "x", "url": "http://topsecret"},
        "d": {"url": "ftp://topsecret"},
        "f": {"command": "x", "env": {"KEY": 1}},
        "g": {"url": "http://topsecret", "type": "sse"},
        "h": {"url": "http://topsecret", "headers": {"Authorization": "topsecret\n"}},
        "j": {"url": "http://topsecret", "headers": {"Host": "topsecret"}},
        "l": {"url": "http://topsecret", "headers": ["topsecret"]},
    }
    given(path, {**wrong, "good": {"command": "x"}, "off": {"url": "ftp://x", "disabled": True}})
    found = read_list(path)
    assert found.usable == ("good",) and "off" not in found.notice
    assert all(f"“{name}” " in found.notice for name in wrong) and "topsecret" not in found.notice


def test_what_is_changed_is_saved_and_the_rest_stays(path: Path) -> None:
    web = {"type": "http", "url": "https://example.org/mcp", "x": [1]}
    given(path, {"files": FILES, "web": web, "odd": 3, "off": {"command": "x", "disabled": True}}, theme="dark")
    change_list(
        path,
        [
            ServerEntry("papers", "program", "npx", ("-y", "server"), kept="files"),
            ServerEntry("web", "program", "C:\\Program Files\\web.exe", ("--at", "C:\\a b\\"), kept="web"),
            ServerEntry("new", "address", url="http://127.0.0.1:8000/mcp"),
        ],
    )
    assert held(path) == {
        "theme": "dark",
        "mcpServers": {
            "papers": FILES,
            "web": {"command": "C:\\Program Files\\web.exe", "args": ["--at", "C:\\a b\\"], "x": [1]},
            "odd": 3,
            "off": {"command": "x", "disabled": True},
            "new": {"url": "http://127.0.0.1:8000/mcp"},
        },
    }
    assert list(held(path)["mcpServers"]) == ["papers", "web", "odd", "off", "new"]
    change_list(path, [ServerEntry("off", "address", url="https://a.b", kept="off")], ["web", "odd", "gone"])
    assert held(path)["mcpServers"] == {
        "papers": FILES,
        "off": {"url": "https://a.b", "disabled": True},
        "new": {"url": "http://127.0.0.1:8000/mcp"},
    }
    assert read_list(path).usable == ("papers", "new")


def test_names_may_be_swapped_and_an_entry_that_went_meanwhile_comes_back(path: Path) -> None:
    given(path, {"a": {"command": "x"}, "b": {"command": "y"}})
    change_list(path, [ServerEntry("b", command="x", kept="a"), ServerEntry("a", command="y", kept="b")])
    assert held(path)["mcpServers"] == {"b": {"command": "x"}, "a": {"command": "y"}}
    given(path, {"by hand": {"command": "z"}})
    change_list(path, [ServerEntry("a", command="y", args=("1",), kept="a")])
    assert held(path)["mcpServers"] == {"by hand": {"command": "z"}, "a": {"command": "y", "args": ["1"]}}


def test_an_address_that_is_changed_is_no_longer_taken_for_what_it_was(path: Path) -> None:
    given(path, {"old": {"url": "https://example.org/sse", "type": "sse"}})
    change_list(path, [ServerEntry("old", "address", url="https://example.org/mcp", kept="old")])
    assert held(path)["mcpServers"] == {"old": {"url": "https://example.org/mcp"}}
    assert read_list(path).usable == ("old",)


def test_a_name_that_somebody_else_has_taken_is_refused_and_nothing_is_lost(path: Path) -> None:
    given(path, {"a": {"command": "x"}})
    before = path.read_bytes()
    with pytest.raises(ToolError, match=r"already is a server called “a”.*Nothing was saved"):
        change_list(path, [ServerEntry("a", command="y")])
    assert path.read_bytes() == before


@cases("text", b"", b"{", b"[]", b'{"mcpServers": []}', b'{"mcpServers": {"topsecret\xff": 1}}', DEEP)
def test_a_file_that_cannot_be_read_is_told_and_left_alone(path: Path, text: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(text)
    found = read_list(path)
    assert found.entries == () and str(path) in found.trouble and "can't be changed here" in found.trouble
    assert "topsecret" not in found.trouble
    with pytest.raises(ToolError, match="nothing was saved"):
        change_list(path, [ServerEntry("a", command="x")])
    assert path.read_bytes() == text


def test_it_is_written_whole_or_not_at_all(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given(path, {"a": {"command": "x"}})
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", raising(OSError(28, "No space left on device")))
        with pytest.raises(ToolError, match=r"No space left on device.*as it was before"):
            change_list(path, [ServerEntry("b", command="y")])
    assert path.read_bytes() == before and os.listdir(path.parent) == ["mcp.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="modes and links of POSIX")
def test_its_mode_is_kept_and_a_link_stays_one(path: Path, tmp_path: Path) -> None:
    change_list(path, [ServerEntry("a", command="x")])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o640)
    link = tmp_path / "link.json"
    link.symlink_to(path)
    change_list(link, [ServerEntry("b", command="y")])
    assert link.is_symlink() and stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(held(path)["mcpServers"]) == ["a", "b"]


def test_letters_of_all_kinds_can_be_written(path: Path) -> None:
    given(path, {"half": {"command": "\ud83d"}})
    change_list(path, [ServerEntry("näme", command="x")])
    assert held(path)["mcpServers"] == {"half": {"command": "\ufffd"}, "näme": {"command": "x", "args": []}}


@cases(
    "entry, words",
    (ServerEntry(""), "no name yet"),
    (ServerEntry("two words", command="x"), "such as “two-words”"),
    (ServerEntry("a", command="x"), "Two servers are called “a”"),
    (ServerEntry("b"), "“b” has no command yet"),
    (ServerEntry("b", command="x\0y"), "no command can hold"),
    (ServerEntry("b", "address", command="x"), "“b” has no address yet"),
    (ServerEntry("b", "address", url="http://a b"), "none that can be asked"),
    *(
        (ServerEntry("b", "address", url=url), "none that can be asked")
        for url in "ftp://x/topsecret example.org/topsecret https:// http://x:topsecret/ http://[topsecret".split()
    ),
)
def test_what_cannot_be_saved_is_said(path: Path, entry: ServerEntry, words: str) -> None:
    place, sentence = wrong_entry([ServerEntry("c", command="x"), entry], ["a"]) or (-1, "")
    assert place == 1 and words in sentence and "topsecret" not in sentence
    with pytest.raises(ToolError):
        change_list(path, [ServerEntry("a", command="y"), entry])
    assert not path.exists()


def test_what_is_well_is_not_complained_about_and_can_be_used(path: Path) -> None:
    kept = ServerEntry("two words", command="x", kept="two words")
    web = ServerEntry("web", "address", url="HTTPS://me:k@[::1]:8443/mcp?key=k")
    assert wrong_entry([kept, web, ServerEntry("c", command="C:\\Program Files\\x.exe")], ["a"]) is None
    change_list(path, [ServerEntry("web", "address", url="HTTPS://[::1]:8443/mcp"), ServerEntry("c", command="x")])
    assert read_list(path).usable == ("web", "c") and read_list(path).notice == ""


def test_a_draft_is_tried_with_the_env_that_the_file_has_for_it(path: Path) -> None:
    given(path, {"files": FILES, "web": {"url": "https://a.b", "headers": {"X": "topsecret"}}})
    tried = server_of(path, ServerEntry("papers", command=sys.executable, args=("-x",), kept="files"))
    assert (tried.name, tried.command, tried.args) == ("papers", sys.executable, ("-x",))
    assert tried.env == {"KEY": "topsecret"}
    assert server_of(path, ServerEntry("files", command=sys.executable)).env == {}
    assert server_of(path, ServerEntry("web", "address", url="https://a.b", kept="web")).headers == {"X": "topsecret"}
    given(path, {"web": {"url": "https://a.b", "headers": {"X": "topsecret\n"}}})
    with pytest.raises(ToolError, match="“headers” that are no texts"):
        server_of(path, ServerEntry("web", "address", url="https://a.b", kept="web"))
    with pytest.raises(ToolError, match="no command yet"):
        server_of(path, ServerEntry("a"))


async def test_a_server_that_cannot_be_used_is_told_with_its_reason(path: Path) -> None:
    given(
        path,
        {
            "old": {"url": "https://a.b/sse?key=topsecret", "type": "sse"},
            "off": {"command": "topsecret", "disabled": True},
            "odd": {"url": "https://a.b", "headers": {"A": 1}},
        },
    )

    async def told(*names: str) -> list[str]:
        box = make_toolbox([f"mcp:{name}" for name in names], servers=named_servers(path, names))
        try:
            return await box.open()
        finally:
            await box.close()

    old, off, odd, gone = await told("gone", "odd", "old", "off")
    assert old.startswith(
        "The MCP server “old” speaks SSE, which is out of use: give the address of its streamable HTTP"
    )
    assert off == "The MCP server “off” is disabled in the list of servers: enable it there, or switch it off here."
    assert odd.startswith("The MCP server “odd” has “headers” that are no texts") and str(path) in odd
    assert gone == "The MCP server “gone” is not in the list of servers: add it there, or switch it off."
    assert "topsecret" not in old + off + odd
    path.write_text("{")
    [broken] = await told("old")
    assert broken.startswith("The MCP server “old” is not used: The list of MCP servers cannot be read, since it is no")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes among files")
def test_a_pipe_in_the_lists_place_is_not_waited_for(path: Path) -> None:
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    assert "cannot be read, since it is no file, but a pipe" in read_list(path).notice


@pytest.mark.skipif(" " in sys.executable, reason="this Python's own path has a space")
def test_a_whole_command_line_in_the_command_is_noticed(path: Path, tmp_path: Path) -> None:
    line = ServerEntry("a", command=f"{sys.executable} -m server --token topsecret")
    for use in (lambda: server_of(path, line), lambda: change_list(path, [line])):
        with pytest.raises(ToolError, match=r"Leave “.*python.*” as the command") as told:
            use()
        assert "topsecret" not in str(told.value)
    assert server_of(path, ServerEntry("a", command="/nowhere/at all")).command == "/nowhere/at all"


@pytest.mark.parametrize("url", ["http://mcp.example/mcp", "http://8.8.8.8/mcp"])
def test_headers_dont_cross_other_networks_unencrypted(path: Path, url: str) -> None:
    headers = {"Authorization": "Bearer topsecret"}
    secured, near = url.replace("http:", "https:"), "http://192.168.1.5/mcp"
    given(path, {"clear": {"url": url, "headers": headers}, "plain": {"url": url}})
    clear, plain = read_list(path).entries
    assert "would go unencrypted" in clear.trouble and "topsecret" not in clear.trouble and not plain.trouble
    given(path, {"tls": {"url": secured, "headers": headers}, "near": {"url": near, "headers": headers}})
    assert not any(entry.trouble for entry in read_list(path).entries)


@pytest.mark.skipif(os.name != "posix", reason="Windows gives a user's folders to that user alone")
def test_a_list_that_was_written_by_hand_is_made_private(tmp_path: Path) -> None:
    path = tmp_path / "kame-desktop" / "mcp.json"
    given(path, {"files": FILES})
    path.chmod(0o644)
    read_list(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@cases(
    "hint, user, own, effect",
    ({}, "changes", None, "changes"),
    ({"read_only_hint": True}, "changes", None, "changes"),  # it is not believed
    ({"read_only_hint": True}, "sends", None, "sends"),
    ({}, "reads", None, "reads"),
    ({"read_only_hint": False}, "reads", None, "changes"),  # but it is if it warns
    ({"destructive_hint": True}, "sends", None, "changes"),
    ({"destructive_hint": True}, "changes", "reads", "reads"),  # the user has said so of this very tool
    ({}, "reads", "sends", "sends"),
)
def test_what_tools_may_do_users_say(hint: dict[str, bool], user: Effect, own: Effect | None, effect: Effect) -> None:
    tool = SimpleNamespace(
        name="send",
        title=None,
        description="Sends it.",
        input_schema={"type": "object"},
        annotations=SimpleNamespace(**{"read_only_hint": None, "destructive_hint": None, **hint}) if hint else None,
    )
    [offered], left_out = offers_of([tool])
    server = McpServer("mail", "mail", effect=user, effects={} if own is None else {"send": own})
    assert not left_out and offered.effect(server) == effect
