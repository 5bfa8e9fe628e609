"""Foreign text made harmless: what a container, a node or a registry said, before anybody keeps it.

Escaping for HTML is the templates' work and not here.
"""

from __future__ import annotations

import re
import unicodedata

CUT = "…"
LONGEST_QUOTE = 300
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

# Terminal sequences whole, so that a colour does not leave `[31m` behind. Each repeat is bounded
# and of one class: linear in the input, whatever it is.
_TERMINAL = re.compile(
    "\x1b\\[[0-?]{0,64}[ -/]{0,16}[@-~]"  # colours and cursor moves
    "|\x1b\\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\\\)"  # window titles and links
    "|\x1b[@-Z\\\\-_]"
)
# Characters that change the order or the look of what stands around them (Cf is format, Cs half a
# character, Co somebody's own): a log line could be shown as something that it does not say.
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def clean(text: str, longest: int) -> str:
    """Return one line or more, without control, terminal and bidirectional characters.

    Line breaks stay, tabs become spaces, anything else that hides is replaced by U+FFFD. Longer
    text loses its end and gets `…` there, so that at most `longest` characters come back.
    """
    shown = _shown(text[: 2 * longest + _ROOM])
    return shown if len(shown) <= longest else shown[: max(longest - 1, 0)] + CUT


def clean_end(text: str, longest: int) -> str:
    """Return the same as `clean` with the beginning cut: a crash says why in its last words."""
    shown = _shown(text[-(2 * longest + _ROOM) :])
    return shown if len(shown) <= longest else CUT + shown[len(shown) - longest + 1 :]


def one_line(text: str, longest: int) -> str:
    """Return the same as `clean` with every run of white space as one space."""
    return clean(" ".join(_TERMINAL.sub("", text[: 4 * longest + _ROOM]).split()), longest)


def last_line(text: str) -> str:
    """Return the last line that is not empty, cut to what a message quotes."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][-LONGEST_QUOTE:] if lines else ""


# Text is cut before it is looked at, so that nobody's megabytes cost time; this much is left over
# for the terminal sequences that go.
_ROOM = 4096


def _shown(text: str) -> str:
    text = _TERMINAL.sub("", text).replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    if character == "\n" or unicodedata.category(character) not in _HIDDEN_CATEGORIES:
        return character
    return REPLACEMENT
