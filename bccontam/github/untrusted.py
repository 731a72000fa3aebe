"""Markdown that somebody else wrote, made harmless to post in our name.

Pure. Unlike `bccontam.report.markdown`, which escapes single values, this leaves tables, headings and code as
they are and takes apart what would act: HTML, links, images, mentions, references, commands for other bots.
"""

from __future__ import annotations

import re
import unicodedata

_JOINER = "\u2060"
"""Not shown, and no part of any name, address or tag: it takes apart what it stands in."""

_APART = re.compile(
    r"(?<=<)(?!/?(?:details|summary)>|br ?/?>)(?=[A-Za-z/!?])"  # HTML, comments and markers, <https://...>
    r"|(?<=\])(?=[(\[:])"  # links, images and their definitions
    r"|(?<=@)(?=[\w.\\-])"  # mentions, mail addresses, user/repo@commit
    r"|(?<=\#)(?=\d)|(?<=gh-)(?=\d)|(?<=gh)(?=\\-\d)"  # issues
    r"|(?<=:)(?=\\?/)|(?<=www)(?=\\?\.)"  # bare addresses
    r"|(?<=&)(?!(?:lt|gt|amp|\#124);)(?=\#?\w)"  # entities, such as &commat; which would give a mention
    r"|^[ \t>*+-]*(?=\\?[/!][A-Za-z])",  # commands for bots, such as /approve
    re.IGNORECASE | re.MULTILINE,
)


def tame(markdown: str) -> str:
    """The same text for a reader, in which nothing acts. Doing it twice changes nothing more."""
    text = "".join(char for char in markdown.replace("\r\n", "\n") if _is_kept(char))
    return _APART.sub(lambda found: f"{found[0]}{_JOINER}", text)


def _is_kept(char: str) -> bool:
    """Text, line feeds, tabs and joiners; no other control, format or bidirectional character, no surrogate."""
    return char in ("\n", "\t", _JOINER) or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
