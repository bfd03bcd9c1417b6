"""Numerals as a voice is given them, so that it reads them as people do."""

import pytest

from app.tts.numerals import respelled


@pytest.mark.parametrize(
    ("language", "text", "said"),
    [
        ("en-us", "It was published in 1813.", "It was published in 18 13."),
        ("en-us", "In 1905, 1900 and 1066; from 1969 on.", "In 19 oh 5, 19 hundred and 10 66; from 19 69 on."),
        ("en-us", "In 1969 astronauts landed.", "In 19 69 astronauts landed."),
        ("en-us", "It is 1500 meters, 1,813 dollars and 1813.5.", "It is 1500 meters, 1,813 dollars and 1813.5."),
        ("en-us", "The 1990s, the 80s and the 1800s.", "The 19 nineties, the eighties and the 18 hundreds."),
        ("en-us", "In the 2010s, in her 30s; wait 30s.", "In the 20 tens, in her thirties; wait 30s."),
        ("en-us", "Let's meet at 12:00, 7:00 pm or 9:05.", "Let's meet at 12 o'clock, 7 pm or 9 oh 5."),
        ("en-us", "It took 3:42:10, at 7:30.", "It took 3:42:10, at 7:30."),
        ("en-us", "Ring 020 7946 0958.", "Ring 0 2 0, 7 9 4 6, 0 9 5 8."),
        ("en-us", "Call 555-0123 or (555) 123-4567.", "Call 5 5 5, 0 1 2 3 or 5 5 5, 1 2 3, 4 5 6 7."),
        ("en-us", "It is +44 20 7946 0958.", "It is plus 4 4, 2 0, 7 9 4 6, 0 9 5 8."),
        ("en-us", "Or 1-800-555-0199", "Or 1, 8 0 0, 5 5 5, 0 1 9 9"),
        ("en-us", "Ping 192.168.1.1 first.", "Ping 192 dot 168 dot 1 dot 1 first."),
        ("en-us", "6 4, 7 5; 24 7; 30 to 35; version 5.10.2", "6 4, 7 5; 24 7; 30 to 35; version 5.10.2"),
        ("de", "Im Jahr 1955 und 1800.", "Im Jahr neunzehnhundert 55 und achtzehnhundert."),
        ("de", "Um 12:00 am 9.", "Um 12 Uhr am 9."),
        ("de", "1.813 Meter, 2024, 192.168.0.1", "1.813 Meter, 2024, 192 Punkt 168 Punkt 0 Punkt 1"),
        ("de", "Tel. 030 1234567 oder 089/123456", "Tel. 0 3 0, 1 2 3 4, 5 6 7 oder 0 8 9, 1 2 3 4, 5 6"),
        ("fr-fr", "Appelez le 01 23 45 67 89 en 1813.", "Appelez le 01 23 45 67 89 en 1813."),
        ("es", "A las 9:00 o a las 21:30.", "A las 9 o a las 21:30."),
        ("it", "Alle 9:00, nel 1813.", "Alle 9, nel 1813."),
        ("pl", "W 1813 roku.", "W 1813 roku."),
    ],
)  # fmt: skip
def test_numerals_are_respelled_as_they_are_said(language: str, text: str, said: str) -> None:
    assert respelled(text, language) == said
