"""The design system: every colour, size, radius and duration in the window, and everything derived from them.

- `tokens.py`: the values themselves, by theme and accent.
- `fonts.py`: the bundled typefaces, and the five text sizes.
- `look.py`: colours for custom painting, mixed from a palette.
- `model_colours.py`: a fixed colour for each model.
- `style_sheet.py`: how Qt draws its own controls.
- `plain.py`: labels, tooltips and names that are safe from markup.
- `icons.py`: the icons, tinted in theme colours; `icon_button.py`: a button with an icon.
- `motion.py`: short animations, which reduced motion disables.
- `theme.py`: applies all of this to the application.
"""
