"""Writes formulas of TeX as plain text, as far as that can be read: “\\frac{a}{b}” becomes “a/b”."""

from __future__ import annotations

import re

from app.conversation.markdown import escaped

_FORMULA = re.compile(
    r"(`+)(?!`).+?(?<!`)\1(?!`)"  # code, which stays
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
_RAISED = str.maketrans("0123456789+-n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ")


def plain_formulas(text: str) -> str:
    """Returns a Markdown text with its formulas as plain text."""
    if "$" not in text and "\\" not in text:
        return text
    return _FORMULA.sub(_shown, text)


def plain_formula(tex: str) -> str:
    """Returns a formula as plain text."""
    text = re.sub(r"\\(?:text|mathrm|mathbf|operatorname)\s*\{([^{}]*)\}", r"\1", tex)
    for _ in range(3):  # nested ones, from the inside
        text = re.sub(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", _fraction, text)
        text = re.sub(r"\\sqrt\s*\{([^{}]*)\}", lambda found: f"√{_grouped(found[1])}", text)
    text = re.sub(r"\^\{?([0-9n+-]{1,3})\}?", lambda found: found[1].translate(_RAISED), text)
    text = re.sub(r"\\([A-Za-z]+)", lambda found: _SIGNS.get(found[1], found[1]), text)
    return " ".join(re.sub(r"\\[,;:! ]|[{}]", "", text).split())


def _shown(found: re.Match[str]) -> str:
    if found[1]:
        return found[0]
    return escaped(plain_formula(found[2] or found[3] or found[4] or found[5]))


def _fraction(found: re.Match[str]) -> str:
    return f"{_grouped(found[1])}/{_grouped(found[2])}"


def _grouped(term: str) -> str:
    """A term in brackets, unless it is a single number or name."""
    term = term.strip()
    return term if re.fullmatch(r"[\w.,]+|\\[A-Za-z]+", term) else f"({term})"
