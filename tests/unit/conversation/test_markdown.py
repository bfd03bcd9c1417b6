"""Markdown is recognised, and stays well formed where it is cut."""

import pytest

from app.conversation.markdown import cut, escaped, has_markdown, well_formed, without_html


@pytest.mark.parametrize(
    "text",
    ["**b**", "*i* so", "an _i_", "`x`", "- a", "1. a", "# A", "> q", "[a](b)", "~~no~~", "```\nx\n```", "| a |",
     "https://a.b", r"\(x\)", "so $x^2$", "a\n---\nb"],
)  # fmt: skip
def test_markdown_is_recognised(text: str) -> None:
    assert has_markdown(text)


@pytest.mark.parametrize(
    "text",
    ["Plain words.\n\nAnd a paragraph.", "3 * 4 = 12", "snake_case_name", "It costs $5 or $6.", "Nr. 1 of 2.", "a-b",
     "C# and #1", "x > y", "In 1969. Then"],
)  # fmt: skip
def test_plain_text_is_plain(text: str) -> None:
    assert not has_markdown(text)


@pytest.mark.parametrize(
    ("text", "end", "made"),
    [
        ("So **it is** so.", 7, "So **it**"),
        ("So **it *is so* not** so.", 11, "So **it *is***"),
        ("So `x y z` so.", 7, "So `x y`"),
        ("See [the old docs](http://a.b) so.", 8, "See the"),
        ("See [the docs](http://a.b) so.", 26, "See [the docs](http://a.b)"),
        ("2*3 is six.", 3, "2*3"),
        ("So **it is** so.", 12, "So **it is**"),
        ("snake_case is a _word or two_.", 13, "snake_case is"),
        ("An **open\n\nend** of it", 9, "An **open"),
        ("~~gone for~~ good", 6, "~~gone~~"),
        (r"\*no *yes it is*", 9, r"\*no *yes*"),
    ],
)
def test_what_a_cut_leaves_open_is_closed(text: str, end: int, made: str) -> None:
    assert cut(text, end) == made


def test_fences_stand_in_lines_of_their_own_and_are_closed() -> None:
    whole = "So:\n\n```py\nx\n```\nThen."
    assert well_formed(whole) == whole
    assert well_formed("So: ```py\nx```\nThen.") == "So:\n\n```py\nx\n```\nThen."
    assert well_formed("So:\n\n```py\nx") == "So:\n\n\n\n```py\nx\n```\n"
    assert well_formed("Plain *text*.") == "Plain *text*."


@pytest.mark.parametrize("text", ["2*3*4", "1. is", "a_b_ [c](d)", "# no", "- no", "<b> & |", "`x` ~~y~~ $z$"])
def test_escaped_text_has_no_markdown(text: str) -> None:
    from PySide6.QtGui import QTextDocument

    shown = QTextDocument()
    shown.setMarkdown(escaped(text), QTextDocument.MarkdownFeature.MarkdownNoHTML)
    assert shown.toPlainText() == text


def test_tags_are_shown_and_code_stays() -> None:
    text = "A <b>tag</b>, `<i>` and ``a ` <u>``.\n\n```html\n<p>\n```\n\n| <hr> |\n|---|\n"
    made = without_html(text)
    assert made == text.replace("<b>", "&lt;b>").replace("</b>", "&lt;/b>").replace("<hr>", "&lt;hr>")
