"""The design system: all colours, sizes, radii and durations used in the window, and everything derived from them.

- `tokens.py`: the values themselves, by theme and accent.
- `fonts.py`: the bundled typefaces, and the five text sizes.
- `look.py`: colours for custom painting, mixed from a palette.
- `model_colours.py`: assigns each model a fixed colour.
- `plain.py`: labels, tooltips and names that Qt never interprets as markup.
- `sentences.py`: translates the core's sentences into the window's language.
- `icons.py`: the icons, tinted in theme colours, and a button with an icon.
- `motion.py`: short animations, disabled by reduced motion.
- `theme.py`: applies all of this to the application.
"""
