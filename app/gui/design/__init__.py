"""The design system: every colour, size, radius and duration of the window, and what is made of them.

- `tokens.py`: the values themselves, by theme and accent.
- `fonts.py`: the bundled typefaces, and the five sizes of text.
- `look.py`: the colours that painting code mixes from a palette.
- `style_sheet.py`: how Qt draws its own controls.
- `plain.py`: labels, tooltips and names in which Qt finds no markup.
- `icons.py`: the icons, tinted in the theme's colours.
- `motion.py`: short animations, which reduced motion takes away.
- `theme.py`: applies all of it to the application.
"""
