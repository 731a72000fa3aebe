"""One item of an answer -> one repo-relative path, or nothing.

Takes off what models put around a path: links, quotes, line numbers, function names, remarks; URLs and checkout
folders by `bccontam.answer.roots`; `bccontam.paths.normalize_path` does the rest. It never adds to an item.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from bccontam.answer.roots import drop_checkout, drop_repository_name, path_of_url
from bccontam.answer.text import plain_text, unescape_entities, words
from bccontam.paths import normalize_path

MAX_PATH = 4096
"""Characters; a longer path (PATH_MAX on Linux) is dropped."""

_MAX_ITEM = 4 * MAX_PATH  # percent-encoding triples a path, and a URL may stand before it
_MAX_ROUNDS = 8  # layers around a path; an item with more is no path

_KNOWN_EXTENSIONS = words(
    "al app asp aspx astro bash bat bicep c cc cff cfg cjs clj cmake cmd conf config cpp cs csproj css csv cts "
    "cxx dart dockerfile eex ejs el elm env erb erl ex exs f90 feature fs fsx go gradle graphql groovy h haml hbs "
    "hcl hpp hs htm html hxx ini ipynb j2 java jinja jinja2 jl js json json5 jsonc jsp jsx kt kts less lock lua m "
    "make md mdx mjs mk ml mli mm mts nim nix pas php pl plist pm po pot prisma properties proto ps1 psd1 psm1 "
    "pug pxd py pyi pyx r rb rc rdl rdlc rego resx rkt rs rst sass sbt scala scss sh sln sol sql svelte svg swift "
    "tex tf tfvars toml tpl ts tsx txt v vb vim vue wsdl xaml xlf xliff xml xsd xsl xslt yaml yml zig zsh"
)
"""In prose a name without a directory is a file only with one of these: `Rec.Modify` is none."""

_FILE_NAMES = words(
    "authors build changelog codeowners copying dockerfile gemfile jenkinsfile justfile license makefile notice "
    "pipfile procfile rakefile readme vagrantfile version workspace"
)
_NO_PATHS = words("- n/a na nil none null undefined unknown unclear tbd todo todo: etc etc.")
_SENTENCE_STARTS = words(
    "a add also an and answer candidate change check create edit examine file files first fix i in inspect it "
    "likely look main maybe modify note open option or path perhaps possible possibly primary probably second "
    "secondary see the then third this try update use where with"
)
"""Words that begin a sentence, not the top directory of a path with spaces."""

_EXTENSION = r"\.[A-Za-z]\w{0,15}"
_FILE_END = re.compile(r"[^/\\]\.[A-Za-z][\w-]{0,15}$")
_FILE_END_LENGTH = 18
_DOTFILE = re.compile(r"\.[a-z][a-z0-9_-]*(?:\.(?:json|ya?ml|js|cjs|toml|ini|local))?")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_PROSE_MARKS = re.compile(r"[<>\"`|*?{}=;\n\t：；，。]|://")
_MARKUP = re.compile(r"^[\[{]\s?[\"']|<\||</?(?:think|thinking|reasoning|answer|response|s)\b", re.IGNORECASE)

_LINK = re.compile(r"!?\[([^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)?)\]\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_TAG = re.compile(r"</?[A-Za-z][\w-]*(?:\s[^<>]{0,500})?/?>")
_LABEL = re.compile(
    r"(?:(?:file|full|relative|source|target|repo(?:sitory)?)[ _-]?)?"
    r"(?:files?|path|filename|location|source|module)(?:\s?\d{1,3})?\s?[:=]\s+",
    re.IGNORECASE,
)
_BULLET = re.compile(r"[-*+•‣◦▪→➜]\s+")
_WRAPPERS = ("**", "*", "__", "`", '"', "'", "~~", "``", "```")
_BARE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ESCAPED_MARK = re.compile(r"\\([^\w\s/\\]|[_ ])")  # `Sales\_Post.al` in Markdown, `My\ App` in a shell
_WIDE_MARKS = re.compile("[／．＼]")
_WIDE_TO_ASCII = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}

_TAIL = re.compile(
    rf"({_EXTENSION})"
    r"(?:::?|#(?:L?\d|[A-Za-z_])|@L?\d+(?!\w)|\?\w+=|[\"'`*<>|(\[“”«»]|\s*\n|,\s|;"
    r"|\s+(?:[-–—:>|=;@(\[→#]|//|L\d|[a-z])|\s*(?:—|→|->|=>))"
)
"""A file extension and the beginning of something that follows a path."""

_LINE_NUMBER = re.compile(r"(?<=\w)(?::\d+(?:[:-]\d+){0,3}|#L\d+(?:-L?\d+)?)$")
_POSITION = re.compile(
    r"(?<=\w)(?:::.*|:[A-Za-z_][\w.]*(?:\(\))?|#[A-Za-z_][\w.]*|\?\w+=[^\s?]*"  # functions, a query
    r"|:L?\d+(?:[:.,-]\s?L?\d+){0,3}:?|#L?\d+(?:C\d+)?(?:[-–]L?\d+(?:C\d+)?)?|@L?\d+|\(\d+(?:,\s?\d+)?\)"
    r"|,?\s*[(\[]?\b(?:lines?|L)\.?\s?\d+(?:\s?(?:[-–,]|to|and)\s?\d+){0,3}[)\]]?)$",
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
        cleaned, from_url = _clean_once(path, repo)
        if len(cleaned) > MAX_PATH:
            return None
        if cleaned == path:
            return path if _is_path(path) else None
        path, repo = cleaned, None if from_url else repo
    return None


def _clean_once(item: str, repo: str | None) -> tuple[str, bool]:
    """The item with one layer taken off, and whether that was the URL of a file: then it is exact."""
    text = _unwrap(unescape_entities(plain_text(item)).strip())
    url_path = path_of_url(text)
    from_url = url_path is not None and not url_path.startswith("/")
    text = _decode_percent(text if url_path is None else url_path)
    if "/" in text:
        text = _ESCAPED_MARK.sub(r"\1", text)
    if _WIDE_MARKS.search(text):
        text = text.translate(_WIDE_TO_ASCII)
    path = _without_parents(normalize_path(_cut_tail(drop_checkout(text, repo))))
    return path if from_url else drop_repository_name(path, repo), from_url


def _is_path(path: str) -> bool:
    """Whether a cleaned item may be a path: not blank, not a sentence, not a word for nothing."""
    if not path or path.lower() in _NO_PATHS:
        return False
    if _CONTROL.search(path) or _MARKUP.search(path) or not any(map(str.isalnum, path)):
        return False
    return "/" in path or " " not in path or has_extension(path)


def has_extension(path: str) -> bool:
    """Whether the last component ends like a file name."""
    return _FILE_END.search(path[-_FILE_END_LENGTH:]) is not None


def is_shaped_like_a_path(path: str) -> bool:
    """Whether a directory, an extension or a leading dot tells a path from a word."""
    return "/" in path or path.startswith(".") or has_extension(path)


def looks_like_file(text: str, quoted: bool = False) -> bool:
    """Whether a piece of prose is a file path and nothing but that.

    It needs an extension, a known one where there is no directory. Words may stand in it only if `quoted`
    (in backticks or quotes) or capitalised, as in `Subscription Billing/App`: a sentence is no path.
    """
    text = text.replace("\\", "/")
    if not 3 <= len(text) <= MAX_PATH or text.endswith(".") or _PROSE_MARKS.search(text):
        return False
    if _has_sentence(text, quoted):
        return False
    folder, slash, name = text.rpartition("/")
    if _DOTFILE.fullmatch(name):
        return bool(slash) or name[1:] not in _KNOWN_EXTENSIONS
    if name.lower() in _FILE_NAMES:
        return bool(slash) or quoted
    if not has_extension(name):
        return False
    if slash:
        return folder in (".", "..", "") or any(map(str.isalnum, folder))
    return name.rpartition(".")[2].lower() in _KNOWN_EXTENSIONS and (quoted or " " not in name)


def _has_sentence(text: str, quoted: bool) -> bool:
    if " " not in text:
        return False
    first, *others = text.split("/")
    in_first = first.split()
    if len(in_first) > 1 and (in_first[0].lower() in _SENTENCE_STARTS or not all(map(_is_title, in_first))):
        return True
    in_others = [word for part in others if " " in part for word in part.split()]
    return not quoted and not all(map(_is_title, in_others))


def _is_title(word: str) -> bool:
    return not word[0].islower()


def cut_position(text: str) -> str:
    """`text` without a line number or a function name at its end."""
    return _POSITION.sub("", text)


def _unwrap(text: str) -> str:
    """The inside of a link, tags, quotes or emphasis, without a bullet or a label before it."""
    if (link := _LINK.match(text)) is not None:
        name, target = link[1].strip(), link[2].partition(' "')[0].strip("<> ")
        is_file = has_extension(cut_position(target.partition("?")[0]))
        text = target if is_file or not has_extension(name) else name
    if text.startswith("<") and text.find(">") == len(text) - 1 and is_shaped_like_a_path(text[1:-1]):
        text = text[1:-1]
    elif "<" in text:
        text = _TAG.sub(" ", text).strip()
    for prefix in (_BULLET, _LABEL):
        if (found := prefix.match(text)) is not None:
            text = text[found.end() :]
    for mark in _WRAPPERS:
        if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
            text = text[len(mark) : -len(mark)].strip()
    return text


def _decode_percent(text: str) -> str:
    """Percent-encoding decoded if every `%` belongs to it and the result is readable text."""
    if "%" not in text or _BARE_PERCENT.search(text):
        return text
    decoded = unquote(text, errors="replace")
    return text if "\ufffd" in decoded or not decoded.isprintable() else decoded


def _cut_tail(text: str) -> str:
    """Cut after the file extension: line numbers, functions, remarks; then punctuation at the ends.

    An unknown extension ends the path only if no file name follows: `Company.Name (old)/a.cs` is one path.
    """
    is_file, last_slash = has_extension(text), text.rfind("/")
    for found in _TAIL.finditer(text):
        end = found.end(1)
        if found[1][1:].lower() in _KNOWN_EXTENSIONS or not (is_file or last_slash > end):
            text = text[:end]
            break
    text = _LINE_NUMBER.sub("", text.rstrip(" .,;:!?")).lstrip(" ,;|")
    for opening, closing in ("()", "[]", "{}", "<>"):
        if text.endswith(closing) and opening not in text:
            text = text[:-1]
        if text.startswith(opening) and closing not in text:
            text = text[1:]
    return text.strip()


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
