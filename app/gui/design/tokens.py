"""The design tokens: colours, text sizes, spacing, radii and durations, by theme and accent."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Scheme = Literal["light", "dark", "contrast"]


@dataclass(frozen=True, slots=True)
class Tokens:
    """Colours as `#rrggbb`, lengths in pixels at 100 %, durations in milliseconds.

    - `ground` is the background of windows; `surface` is that of the conversation and of text fields.
    - `raised` is for floating elements; `sunken` is for secondary buttons, code and tracks.
    - `line` is for separators; `outline` is for the border of fields, with a contrast ratio of at least 3 : 1 against
      `surface`.
    - Text has a contrast ratio of at least 4.5 : 1 against all four backgrounds.
    """

    scheme: Scheme
    ground: str
    surface: str
    raised: str
    sunken: str
    hover: str
    pressed: str
    line: str
    outline: str
    text: str
    dim: str
    accent: str
    accent_hover: str
    on_accent: str
    accent_text: str
    accent_soft: str
    good: str
    warn: str
    bad: str

    caption: int = 12
    small: int = 13
    body: int = 15
    title: int = 20
    display: int = 28

    unit: int = 4
    control: int = 32
    bar: int = 48
    strip: int = 28
    column: int = 720
    radius: int = 8
    card_radius: int = 12

    quick_ms: int = 120
    slow_ms: int = 200

    @property
    def frame(self) -> str:
        """The border colour of floating elements."""
        return self.outline if self.scheme == "contrast" else self.line

    @property
    def dark(self) -> bool:
        """Whether this is a theme with light text on a dark background."""
        return self.scheme != "light"


@dataclass(frozen=True, slots=True)
class Accent:
    """An accent's colours for light and dark themes: fill, fill while hovered, text, and soft background. Text on a
    fill is white in light themes and nearly black in dark ones.
    """

    light: str
    light_hover: str
    light_soft: str
    dark: str
    dark_hover: str
    dark_text: str
    dark_soft: str


ACCENTS = MappingProxyType(
    {
        "teal": Accent("#0b7486", "#096274", "#dcf0f2", "#2fa8bb", "#48bccd", "#5cc5d6", "#173a41"),
        "blue": Accent("#2563c9", "#1d52ab", "#e2ebfb", "#6ea4f4", "#86b5f8", "#8ab6f8", "#1c3152"),
        "violet": Accent("#6a3fb0", "#583396", "#ece5f8", "#a98be8", "#b99fef", "#bda6f0", "#33264f"),
        "rose": Accent("#b02a5b", "#96214c", "#fae3eb", "#ee7ba1", "#f492b3", "#f39ab8", "#4a2233"),
        "orange": Accent("#a64b00", "#8c3f00", "#fbe9db", "#f09a4c", "#f5ad6c", "#f5ae6d", "#45301c"),
        "green": Accent("#1b7439", "#15612f", "#dff2e5", "#4cb870", "#67c888", "#6ecb8d", "#1a3b27"),
        "graphite": Accent("#4a5560", "#3c454e", "#e6e9ec", "#a7b2bc", "#bac3cb", "#b9c2ca", "#343b42"),
    }
)


def tokens_for(scheme: Scheme, accent: str = "teal") -> Tokens:
    """Returns the tokens of a theme with this accent, or teal if unknown. High contrast has a fixed accent."""
    chosen = ACCENTS.get(accent, ACCENTS["teal"])
    if scheme == "contrast":
        return Tokens(
            scheme="contrast",
            ground="#000000",
            surface="#000000",
            raised="#0d0d0d",
            sunken="#1c1c1c",
            hover="#333333",
            pressed="#4d4d4d",
            line="#8c8c8c",
            outline="#ffffff",
            text="#ffffff",
            dim="#e0e0e0",
            accent="#ffd60a",
            accent_hover="#ffe45c",
            on_accent="#000000",
            accent_text="#ffd60a",
            accent_soft="#3a3200",
            good="#5df08a",
            warn="#ffc24d",
            bad="#ff9d94",
        )
    if scheme == "dark":
        return Tokens(
            scheme="dark",
            ground="#15181b",
            surface="#1b1f23",
            raised="#23282d",
            sunken="#2a3036",
            hover="#343b42",
            pressed="#3f4851",
            line="#2f363c",
            outline="#7d8892",
            text="#e8ebed",
            dim="#aab4bd",
            accent=chosen.dark,
            accent_hover=chosen.dark_hover,
            on_accent="#0b1113",
            accent_text=chosen.dark_text,
            accent_soft=chosen.dark_soft,
            good="#4cc474",
            warn="#f0b040",
            bad="#ff8a80",
        )
    return Tokens(
        scheme="light",
        ground="#f3f5f6",
        surface="#ffffff",
        raised="#ffffff",
        sunken="#eaedef",
        hover="#dfe3e6",
        pressed="#d3d9dd",
        line="#e0e4e7",
        outline="#868f97",
        text="#171b1f",
        dim="#56616b",
        accent=chosen.light,
        accent_hover=chosen.light_hover,
        on_accent="#ffffff",
        accent_text=chosen.light,
        accent_soft=chosen.light_soft,
        good="#18703a",
        warn="#8a5a00",
        bad="#b3261e",
    )
