"""One item of an answer -> one repo-relative path, or nothing.

Takes off what models put around a path: links, URLs, line numbers, function names, checkout folders, the
repository's name. `bccontam.paths.normalize_path` does the rest. It never adds anything to an item.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from bccontam.answer_roots import drop_checkout, drop_repository_name, path_of_url
from bccontam.answer_text import plain_text, unescape_entities
from bccontam.paths import normalize_path

MAX_PATH = 4096
"""Characters; a longer path (PATH_MAX on Linux) is dropped."""

_MAX_ITEM = 4 * MAX_PATH  # percent-encoding triples a path, and a URL may stand before it
_MAX_ROUNDS = 8

_EXTENSION = r"\.[A-Za-z]\w{0,15}"
_KNOWN = frozenset(
    "al app asp aspx astro bash bat bicep c cc cfg cjs clj cmake cmd conf config cpp cs csproj css csv cts cxx dart "
    "dockerfile eex ejs el elm env erb erl ex exs f90 feature fs fsx go gradle graphql groovy h haml hbs hcl hpp hs htm "
    "html hxx ini ipynb j2 java jinja jinja2 jl js json json5 jsonc jsp jsx kt kts less lock lua m make md mdx mjs mk ml "
    "mli mm mts nim nix pas php pl plist pm po pot prisma properties proto ps1 psd1 psm1 pug pxd py pyi pyx r rb rc rdlc "
    "rdl rego resx rkt rs rst sass sbt scala scss sh sln sol sql svelte svg swift tex tf tfvars toml tpl ts tsx txt v vb "
    "vim vue wsdl xaml xlf xliff xml xsd xsl xslt yaml yml zig zsh".split()
)
_NAMES = frozenset(
    "authors build changelog codeowners copying dockerfile gemfile jenkinsfile justfile license makefile notice pipfile "
    "procfile rakefile readme vagrantfile version workspace".split()
)
_NOTHING = frozenset("- n/a na nil none null undefined unknown unclear tbd todo todo: etc etc.".split())
_STARTERS = frozenset(
    "a add also an and answer candidate change check create edit examine file files first fix i in inspect it likely look "
    "main maybe modify note open option or path perhaps possible possibly primary probably second secondary see the then "
    "third this try update use where with".split()
)
"""Words that begin a sentence, not the top directory of a path with spaces."""

_DOTFILE = re.compile(r"\.[a-z][a-z0-9_-]*(?:\.(?:json|ya?ml|js|cjs|toml|ini|local))?")
_PROSE_MARKS = re.compile(r"[<>\"`|*?{}=;\n\t]|://")
_MARKUP = re.compile(r"<\||</?(?:think|thinking|reasoning|answer|response|s)\b", re.IGNORECASE)
_LINK = re.compile(
    r"!?\[([^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)?)\]\(\s*<?([^<>\"]*?)>?\s*(?:\"[^\"]*\")?\s*\)(.*)", re.DOTALL
)
_TAG = re.compile(r"</?[A-Za-z][\w-]*(?:\s[^<>]{0,500})?/?>")
_LABEL = re.compile(
    r"(?:(?:file|full|relative|source|target|repo(?:sitory)?)[ _-]?)?(?:files?|path|filename|location|source|module)\s*\d{0,3}\s*[:=]\s+",
    re.IGNORECASE,
)
_MARKER = re.compile(r"[-*+•‣◦▪→➜]\s+")
_WRAPPERS = ("**", "*", "__", "`", '"', "'", "~~", "``", "```")
_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ESCAPED_MARK = re.compile(r"\\([^\w\s/\\]|[_ ])")
_WIDE_MARKS = re.compile("[／．＼]")
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_TAIL = re.compile(
    rf"({_EXTENSION})(?:::?|#(?:L?\d|[A-Za-z_])|@L?\d+(?!\w)|\?\w+=|[\"'`*<>|(\[“”«»]"
    r"|\s*\n|\s+(?:[-–—:>|=;@(\[→#]|//|L\d|[a-z])|\s*(?:—|→|->|=>)|,\s|;)"
)
_POSITION = re.compile(
    rf"(?<=\w)(?:::.*|:L?\d+(?:[:.,-]\s?L?\d+)*:?|#L?\d+(?:C\d+)?(?:[-–]L?\d+(?:C\d+)?)?|#[A-Za-z_][\w.]*|:[A-Za-z_][\w.]*(?:\(\))?"
    r"|\?\w+=\S*|,?\s*[(\[]?\b(?:lines?|L)\.?\s?\d+(?:\s?(?:[-–,]|to|and)\s?\d+)*[)\]]?|\(\d+(?:,\s?\d+)?\)|@L?\d+)$",
    re.IGNORECASE,
)


def clean_path(item: str, repo: str | None = None) -> str | None:
    """The canonical path in one item of an answer, or None when there is none.

    `repo` is `owner/name`. The result is at most `MAX_PATH` characters, can be encoded as UTF-8, holds no
    control character, and cleaning it again changes nothing.
    """
    if len(item) > _MAX_ITEM:
        return None
    path = item
    for _ in range(_MAX_ROUNDS):
        cleaned = _clean_once(path, repo)
        if cleaned == path:
            return path if _is_path(path) else None
        path = cleaned
    return None


def _clean_once(item: str, repo: str | None) -> str:
    text = unescape_entities(plain_text(item)).strip()
    text = _unwrap(text)
    url_path = path_of_url(text)
    text = _decode_percent(text if url_path is None else url_path)
    if "/" in text:
        text = _ESCAPED_MARK.sub(r"\1", text)
    if _WIDE_MARKS.search(text):
        text = text.translate(_WIDE)
    text = _cut_tail(drop_checkout(text, repo))
    return drop_repository_name(_without_parents(normalize_path(text)), repo)


def _without_parents(path: str) -> str:
    """`..` resolved; above the root of the repository there is nothing."""
    if ".." not in path:
        return path
    parts: list[str] = []
    for part in path.split("/"):
        if part != "..":
            parts.append(part)
        elif parts:
            parts.pop()
    return "/".join(parts)


def _is_path(path: str) -> bool:
    if not path or len(path) > MAX_PATH or path.lower() in _NOTHING or "\n" in path or _MARKUP.search(path):
        return False
    if not any(character.isalnum() for character in path):
        return False
    return "/" in path or " " not in path or has_extension(path)


def has_extension(path: str) -> bool:
    """Whether the last component ends like a file name."""
    return re.search(rf"[^/\\]{_EXTENSION}$", path) is not None


def looks_like_file(text: str, quoted: bool = False) -> bool:
    """Whether a piece of prose is a file path and nothing but that.

    It needs an extension, a known one where there is no directory. Words may stand in it only if `quoted`
    (in backticks or quotes) or capitalised, as in `Subscription Billing/App`: a sentence is no path.
    """
    text = text.replace("\\", "/")
    if not 3 <= len(text) <= MAX_PATH or _PROSE_MARKS.search(text) or text.endswith("."):
        return False
    folder, slash, name = text.rpartition("/")
    if not slash and text.startswith("."):
        return _DOTFILE.fullmatch(name) is not None and name[1:] not in _KNOWN
    if _has_sentence(text, quoted):
        return False
    if name.lower() in _NAMES or (slash and _DOTFILE.fullmatch(name)):
        return bool(slash) or quoted
    if not has_extension(name):
        return False
    if not slash:
        return name.rpartition(".")[2].lower() in _KNOWN and (quoted or " " not in name)
    return any(character.isalnum() for character in folder) or folder in (".", "..", "")


def _has_sentence(text: str, quoted: bool) -> bool:
    if " " not in text:
        return False
    first, _, rest = text.partition("/")
    words = first.split()
    if len(words) > 1 and (words[0].lower() in _STARTERS or not all(map(_is_title, words))):
        return True
    return not quoted and not all(
        _is_title(word) for part in rest.split("/") if " " in part for word in part.split()
    )


def _is_title(word: str) -> bool:
    return not word[0].islower()


def cut_position(text: str) -> str:
    """`text` without a line number or a function name at its end."""
    return _POSITION.sub("", text)


def _unwrap(text: str) -> str:
    if (link := _LINK.match(text)) is not None:
        name, target = link[1].strip(), link[2].strip()
        text = (
            target
            if has_extension(cut_position(target.partition("?")[0])) or not has_extension(name)
            else name
        )
    if "<" in text:
        text = text[1:-1] if re.fullmatch(r"<[^<>\s]*[/.][^<>]*>", text) else _TAG.sub(" ", text).strip()
    text = _MARKER.sub("", text, count=1) if _MARKER.match(text) else text
    if (label := _LABEL.match(text)) is not None:
        text = text[label.end() :]
    for mark in _WRAPPERS:
        if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
            text = text[len(mark) : -len(mark)].strip()
    return text


def _decode_percent(text: str) -> str:
    """Percent-encoding decoded if every `%` belongs to it and the result is readable text."""
    if "%" not in text or _PERCENT.search(text):
        return text
    decoded = unquote(text, errors="replace")
    return text if "\ufffd" in decoded or not decoded.isprintable() else decoded


def _cut_tail(text: str) -> str:
    """Cut after the file extension: line numbers, functions, remarks; then punctuation at the end."""
    for found in _TAIL.finditer(text):
        tail = text[found.end(1) :]
        if found[1][1:].lower() in _KNOWN or not (has_extension(tail) or "/" in tail):
            text = text[: found.end(1)]
            break
    text = text.rstrip(" .,;:!?")
    for opening, closing in ("()", "[]", "{}", "<>"):
        if text.endswith(closing) and opening not in text:
            text = text[:-1]
        if text.startswith(opening) and closing not in text:
            text = text[1:]
    return text.strip()
