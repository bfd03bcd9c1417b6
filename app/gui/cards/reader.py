r"""Parses Markdown into the elements of a card's body, using Qt's parser. HTML tags are displayed verbatim.

TeX formulas are converted to plain text where possible: "\frac{a}{b}" becomes "a/b".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TypeGuard

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QTextBlock, QTextCharFormat, QTextDocument, QTextFormat, QTextFrame, QTextTable

from app.conversation.markdown import blocks, escaped
from app.gui.cards.card import LINE_BREAK, Align, Element, Paragraph, Run, Table, clean_text
from app.gui.cards.links import is_link

_FORMULA = re.compile(
    r"(`+)(?!`).+?(?<!`)\1(?!`)"  # code, which is left unchanged
    r"|\\\((.+?)\\\)|\\\[(.+?)\\\]|\$\$(.+?)\$\$|\$(?=[^\s$])([^$\n]*?[A-Za-z\\^][^$\n]*?)(?<=\S)\$(?!\d)",
    re.S,
)
_SIGNS = {
    "times": "×", "cdot": "·", "div": "÷", "pm": "±", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "neq": "≠",
    "ne": "≠", "approx": "≈", "infty": "∞", "sum": "∑", "prod": "∏", "int": "∫", "to": "→", "rightarrow": "→",
    "Rightarrow": "⇒", "in": "∈", "pi": "π", "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "Delta": "Δ",
    "epsilon": "ε", "theta": "θ", "lambda": "λ", "mu": "μ", "sigma": "σ", "phi": "φ", "omega": "ω", "ldots": "…",
    "dots": "…", "degree": "°", "circ": "°", "quad": " ", "left": "", "right": "",
}  # fmt: skip
_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_RAISED = str.maketrans("0123456789+-n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ")


def plain_formulas(text: str) -> str:
    """Converts the TeX formulas in Markdown to plain text, except within code."""
    if "$" not in text and "\\" not in text:
        return text
    return _FORMULA.sub(_shown, text)


def plain_formula(tex: str) -> str:
    """Converts a TeX formula to plain text."""
    text = re.sub(r"\\(?:text|mathrm|mathbf|operatorname)\s*\{([^{}]*)\}", r"\1", tex)
    for _ in range(3):  # nested terms are replaced from the inside out
        text = re.sub(_FRACTION, lambda found: f"{_grouped(found[1])}/{_grouped(found[2])}", text)
        text = re.sub(r"\\sqrt\s*\{([^{}]*)\}", lambda found: f"√{_grouped(found[1])}", text)
    text = re.sub(r"\^\{?([0-9n+-]{1,3})\}?", lambda found: found[1].translate(_RAISED), text)
    text = re.sub(r"\\([A-Za-z]+)", lambda found: _SIGNS.get(found[1], found[1]), text)
    return " ".join(re.sub(r"\\[,;:! ]|[{}]", "", text).split())


def _shown(found: re.Match[str]) -> str:
    if found[1]:
        return found[0]
    return escaped(plain_formula(found[2] or found[3] or found[4] or found[5]))


def _grouped(term: str) -> str:
    """Parenthesises a term unless it is a single number or name."""
    term = term.strip()
    return term if re.fullmatch(r"[\w.,]+|\\[A-Za-z]+", term) else f"({term})"


_FEATURES = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML
_BREAK = re.compile(r"(?: {2,}|\\)\n(?=[ \t]*\S)")
_NEW_CHUNK = re.compile(r"\n[ \t]*\n(?=[^\s])(?![-*+][ \t]|\d{1,9}[.)][ \t])")
"""A paragraph break after which the text can be parsed independently of what precedes it."""
_BULLETS = ("•", "◦", "▪")
MOST_CELLS = 1_000
"""Maximum number of cells displayed per table. Qt takes about 0.2 ms per cell."""
_MARKERS = {"checked": "☑", "unchecked": "☐"}


def read_markdown(text: str) -> tuple[Element, ...]:
    """Parses Markdown into elements. Appending text only changes the last elements."""
    found: list[Element] = []
    head = ""
    parts = blocks(clean_text(text))
    for place, part in enumerate(parts):
        if part.kind == "code":
            found.append(_code(part.language, part.code))
        elif part.kind == "table":
            found += _read(head + part.text.rstrip("\n"))
            head = ""
        else:
            prose, head = part.text, ""
            follower = parts[place + 1] if place + 1 < len(parts) else None
            if follower is not None and follower.kind == "table" and not follower.text.lstrip().startswith("|"):
                prose, head = _without_last_line(prose)
            for chunk in _NEW_CHUNK.split(_dedented(prose)):
                found += _read(chunk.strip("\n")) if chunk.strip() else ()
    for place, element in enumerate(found):
        if _is_item(element) and not (place + 1 < len(found) and _is_item(found[place + 1])):
            found[place] = replace(element, last=True)
    if found and (isinstance(found[-1], Table) or found[-1].look in ("code", "rule")):
        found.append(Paragraph(look="end"))
    return tuple(found)


def styled(base: str, *styles: str, link: str = "") -> str:
    """Returns the kind of text that adds styles (`bold`, `italic`, `struck`, `code`) and a link to `base`."""
    return "|".join((base, *styles)) + (f"@{link}" if link else "")


def _is_item(element: Element) -> TypeGuard[Paragraph]:
    return isinstance(element, Paragraph) and element.look == "item"


def _without_last_line(prose: str) -> tuple[str, str]:
    """Splits off the last line, which is the heading row of the table that follows."""
    before, _, line = prose.rstrip("\n").rpartition("\n")
    return before, f"{line}\n"


def _dedented(prose: str) -> str:
    """Removes the indentation of the first line from all lines.

    Otherwise, prose that continues a list item after a code block would be parsed as code.
    """
    first = next((line for line in prose.split("\n") if line.strip()), "")
    indent = len(first) - len(first.lstrip(" "))
    return "\n".join(line[min(indent, len(line) - len(line.lstrip(" "))) :] for line in prose.split("\n"))


def _code(language: str, code: str) -> Paragraph:
    fence = "~~~" if "```" in code else "```"
    source = f"{fence}{language}\n{code}\n{fence}"
    shown = code.expandtabs(4).replace("\n", LINE_BREAK)
    return Paragraph(((shown, "code"),), "code", language=language, source=source)


@lru_cache(maxsize=256)
def _read(markdown: str) -> tuple[Element, ...]:
    document = QTextDocument()
    document.setMarkdown(_BREAK.sub(LINE_BREAK, plain_formulas(markdown)), _FEATURES)
    found: list[Element] = []
    after_table = False
    frame = document.rootFrame()
    iterator = frame.begin()
    while not iterator.atEnd():
        inner = iterator.currentFrame()
        if isinstance(inner, QTextTable):
            found.append(_table(inner, markdown))
        elif inner is None:
            block = iterator.currentBlock()
            empty = not block.text() and (after_table or _is_before_table(block, frame))
            if not empty:
                _add(found, block)
        after_table = inner is not None
        iterator += 1
    return tuple(found)


def _is_before_table(block: QTextBlock, frame: QTextFrame) -> bool:
    following = block.next()
    return following.isValid() and any(
        inner.firstPosition() == following.position() for inner in frame.childFrames() if isinstance(inner, QTextTable)
    )


def _add(found: list[Element], block: QTextBlock) -> None:
    """Appends a block as a paragraph. A line of code is merged into a directly preceding code block."""
    paragraph = _paragraph(block)
    if paragraph.look == "code":
        last = found[-1] if found else None
        code = paragraph.text
        if isinstance(last, Paragraph) and last.look == "code":
            code = f"{last.text.replace(LINE_BREAK, chr(10))}\n{code}"
            found.pop()
        paragraph = _code("", code)
    elif not paragraph.runs and paragraph.look != "rule":
        return
    found.append(paragraph)


def _paragraph(block: QTextBlock) -> Paragraph:
    look = block.blockFormat()
    quote = look.intProperty(QTextFormat.Property.BlockQuoteLevel)
    if look.hasProperty(QTextFormat.Property.BlockTrailingHorizontalRulerWidth):
        return Paragraph(look="rule", quote=quote)
    if look.hasProperty(QTextFormat.Property.BlockCodeLanguage) or look.hasProperty(
        QTextFormat.Property.BlockCodeFence
    ):
        return Paragraph(((block.text(), "code"),), "code", quote=quote)
    if look.headingLevel():
        level = min(look.headingLevel(), 3)
        return Paragraph(tuple(_runs(block, f"heading{level}", plain=True)), "heading", level, quote)
    items = block.textList()
    runs = tuple(_runs(block, "text"))
    if items is None:
        return Paragraph(runs, "item" if look.indent() else "text", look.indent(), quote)
    level = items.format().indent()
    return Paragraph(((f"{_marker(block)}\t", "marker"), *runs), "item", level, quote)


def _marker(block: QTextBlock) -> str:
    """Returns the marker of a list item: a bullet, number or checkbox."""
    items, look = block.textList(), block.blockFormat()
    if look.marker() != look.MarkerType.NoMarker:
        return _MARKERS["checked" if look.marker() == look.MarkerType.Checked else "unchecked"]
    form = items.format()
    if form.style() == form.Style.ListDecimal:
        return f"{form.start() + items.itemNumber(block)}."
    return _BULLETS[min(form.indent(), len(_BULLETS)) - 1]


def _runs(block: QTextBlock, base: str, *, plain: bool = False) -> Iterator[Run]:
    """Yields the runs of a block. `plain`: whether to omit the bold style because the base kind is already bold."""
    iterator = block.begin()
    while not iterator.atEnd():
        fragment = iterator.fragment()
        look = fragment.charFormat()
        text, link = fragment.text(), look.anchorHref()
        if look.isImageFormat():  # images are never loaded, so link to them instead
            image = look.toImageFormat()
            text = look.stringProperty(QTextFormat.Property.ImageAltText) or image.name()
            link = image.name()
        yield text, styled(base, *_styles(look, plain=plain), link=link if is_link(link) else "")
        iterator += 1


def _styles(look: QTextCharFormat, *, plain: bool) -> Iterator[str]:
    if look.fontWeight() > QFont.Weight.Medium and not plain:
        yield "bold"
    if look.fontItalic():
        yield "italic"
    if look.fontStrikeOut():
        yield "struck"
    if look.fontFixedPitch():
        yield "code"


def _table(table: QTextTable, source: str) -> Table:
    columns = table.columns()
    count = min(table.rows(), max(2, MOST_CELLS // columns))
    rows = tuple(
        tuple(
            tuple(
                _runs(table.cellAt(row, column).firstCursorPosition().block(), "text" if row else "cell", plain=not row)
            )
            for column in range(columns)
        )
        for row in range(count)
    )
    aligns = tuple(_align(table.cellAt(count - 1, column).firstCursorPosition().block()) for column in range(columns))
    if count < table.rows():
        rows += (((("…", "text"),),) * columns,)
    return Table(rows, aligns, source.strip())


def _align(block: QTextBlock) -> Align:
    alignment = block.blockFormat().alignment()
    if alignment & Qt.AlignmentFlag.AlignRight:
        return "right"
    return "center" if alignment & Qt.AlignmentFlag.AlignHCenter else "left"
