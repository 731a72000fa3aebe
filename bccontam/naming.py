"""File names that a report's own words suggest by a naming convention: the floor for every model.

Pure, and without any knowledge of a repository or a gold patch. The rules are plain, their weights round, and
none is made for one entry. `bccontam.models.naming` is the backend that answers with them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from bccontam.leakage import leak_check_text

TITLE_WEIGHT = 3
_MOST_COMPARED = 50


@dataclass(frozen=True, slots=True)
class Report:
    """A problem statement, and where its title (the first line that is not blank) ends."""

    text: str
    title_end: int

    @classmethod
    def read(cls, problem_statement: str) -> Report:
        """The statement with no-break and zero-width characters folded."""
        text = leak_check_text(problem_statement)
        end = text.find("\n", len(text) - len(text.lstrip()))
        return cls(text, len(text) if end < 0 else end)

    def weight(self, position: int) -> int:
        """How much a mention at this position counts: `TITLE_WEIGHT` in the title, else 1."""
        return TITLE_WEIGHT if position < self.title_end else 1


class _Ballot:
    """File names and their scores. Case tells no two names apart; the first spelling is kept."""

    def __init__(self) -> None:
        self._scores: dict[str, float] = {}
        self._spellings: dict[str, str] = {}

    def add(self, name: str, weight: float) -> None:
        key = name.lower()
        self._spellings.setdefault(key, name)
        self._scores[key] = self._scores.get(key, 0) + weight

    def best(self, count: int) -> tuple[str, ...]:
        """The highest scores, first added first among equals.

        A name that is the end of a longer one gives way to it when the longer one has half its score or more.
        """
        ranked = sorted(self._scores, key=self._scores.__getitem__, reverse=True)
        chosen: list[str] = []
        for key in ranked:
            if len(chosen) >= count:
                break
            if not self._gives_way(key, [*chosen, *ranked[:_MOST_COMPARED]]):
                chosen.append(key)
        return tuple(self._spellings[key] for key in chosen)

    def _gives_way(self, key: str, others: Sequence[str]) -> bool:
        half = self._scores[key] / 2
        return any(other.endswith(key) and other != key and self._scores[other] >= half for other in others)


# --- AL: <ObjectName>.<ObjectType>.al
#
# Each mention adds to the score of the files it suggests, three times as much in the title:
#   a file name                                    100
#   an object in a call stack                      10
#       "Sales-Post"(CodeUnit 80).Run line 12
#   a name beside an object type                   5
#       page Sales Invoice, the Sales Invoice page, table 36 "Sales Header"
#   one word, and two words, before a noun that tells the kind of object
#       Order, Invoice, Quote, Memo                2 its page; 1 each "<area> Header" and "<area> Line", the
#                                                  tables that hold all documents of an area
#       Line, Header, Entry, Buffer                2 its table; in the plural 1 the page that lists them
#       Journal                                    2 its page; 1 the table "<...> Journal Line"
#       Card                                       2 its page; 2 the table of the record it shows
#       Setup                                      2 its table; 1 its page
#       Worksheet, List, Statistics                2 its page
#       Contract, Shipment, Receipt                1 each its page, its header table and its line table
#   an action in quotes or in a caption            2 a report, 1.8 a page, 1.6 a codeunit of that name
#       "Create Interaction"
#   any other phrase of two to five capitalised words    0.5 a page, 0.45 a table, 0.4 a codeunit of that name

_FILE, _CALL_STACK, _BESIDE_TYPE, _MAIN, _IMPLIED = 100, 10, 5, 2, 1
_ACTION_TYPES = (("Report", 2.0), ("Page", 1.8), ("Codeunit", 1.6))
_PHRASE_TYPES = (("Page", 0.5), ("Table", 0.45), ("Codeunit", 0.4))
_OBJECT_TYPES = {
    "table": "Table",
    "page": "Page",
    "report": "Report",
    "codeunit": "Codeunit",
    "query": "Query",
    "xmlport": "XmlPort",
    "enum": "Enum",
    "interface": "Interface",
    "permissionset": "PermissionSet",
    "tableextension": "TableExt",
    "pageextension": "PageExt",
    "reportextension": "ReportExt",
    "enumextension": "EnumExt",
}
_DOCUMENTS = ("order", "invoice", "quote", "memo")
_RECORDS = ("line", "header", "entry", "buffer")
_PAGES = ("worksheet", "list", "statistics")
_WITH_OWN_TABLES = ("contract", "shipment", "receipt")
_NOUNS = (*_DOCUMENTS, *_RECORDS, *_PAGES, *_WITH_OWN_TABLES, "journal", "card", "setup")

# What stands in a document's name but not in its area's: a "Blanket Sales Order" is of the area "Sales".
_NOT_THE_AREA = frozenset({*_DOCUMENTS, "credit", "return", "blanket", "posted", "released"})

# An object name has at most 30 characters; a longer one is written with the product's abbreviations.
_LONGEST_NAME = 30
_ABBREVIATION_LIST = """
    account Acc, accounts Accs, adjustment Adjmt, allocation Alloc, amount Amt, application Appln,
    assembly Asm, assignment Assgnt, availability Avail, balance Bal, business Bus, calculate Calc,
    calculation Calc, capacity Cap, charge Chrg, currency Curr, customer Cust, detailed Dtld, dimension Dim,
    discount Disc, document Doc, exchange Exch, finance Fin, general Gen, inventory Invt, invoice Inv,
    journal Jnl, management Mgt, manufacturing Mfg, message Msg, movement Mvmt, payment Pmt, production Prod,
    purchase Purch, quantity Qty, receipt Rcpt, register Reg, requisition Req, resource Res, service Serv,
    shipment Shpt, standard Std, statement Stmt, template Templ, transaction Trans, vendor Vend,
    warehouse Whse
"""
_ABBREVIATIONS = dict(pair.split() for pair in _ABBREVIATION_LIST.split(","))
_ABBREVIATED = frozenset(f"{short}." for short in _ABBREVIATIONS.values())

_WORDS_OUTSIDE_NAMES = """
    a an and any are as at be been before after but by can cannot could did do does during each every for
    from had has have he her here how i if in into is it its just me my not of off on only or our out so
    some such than that the their them then there these they this those to too under up was we were what
    when where which while who will with without would yes you your once since until still because between
    per via also however please all another both certain different empty first following full individual
    last many more most multiple new next no. no none one other own related same second several simple
    single specific three two various whole above actual additional correct correctly created current
    existing expected incorrect missing now outcome result results selected step title updated wrong add
    again apply assign change changed check choose click close complete confirm copy create delete enter
    export fill find get go import insert issue look make navigate note notice open post press print receive
    refresh register release reopen reserve review run save search see select send set ship show shows
    specify suggest undo update use used using verify view repro reproduce steps description
"""
_OUTSIDE_NAMES = frozenset(_WORDS_OUTSIDE_NAMES.split())
_IN_NAMES_DESPITE_ING = frozenset(
    {"billing", "costing", "manufacturing", "planning", "pricing", "routing", "shipping", "tracking"}
)
_CONNECTORS = frozenset({"and", "by", "for", "from", "in", "of", "to"})

_REACH = 80  # characters beside a noun or an object type that can belong to the name
_LONGEST_RUN = 6  # words
_QUOTES = "\"“”‘’'*`_"
_BREAK = re.compile(r"[^\w/&. -]")
_NAME_PART = re.compile("[A-Za-z0-9]+")
_FILE_NAME = re.compile(r"(?<!\w)\w[\w-]{0,60}\.[a-z]{4,20}\.al(?!\w)", re.ASCII | re.IGNORECASE)
_TYPE_OR_NOUN = re.compile(
    r"\b(?=[b-x])(?<![\"“-])"  # a quoted name may begin with an object type
    rf"(?:(?P<type>(?:table|page|report|enum) ?extension|permission ?set|{'|'.join(_OBJECT_TYPES)})"
    rf"|(?P<noun>{'|'.join(_NOUNS)})(?P<plural>s?)|(?P<entries>entries))(?![\w-])",
    re.IGNORECASE | re.ASCII,
)
_FRAME_END = re.compile(r" \d+\)")
_AFTER_TYPE = re.compile(r" ?\d* ?[\"“‘'*`_]*")
_ACTION = re.compile(
    r"[\"“‘'*>\[`] ?((?:Adjust|Apply|Calculate|Carry Out|Change|Combine|Copy|Create|Delete|Exchange|Explode"
    r"|Export|Get|Import|Issue|Move|Reconcile|Refresh|Release|Replan|Suggest|Undo|Update)"
    r"(?: [A-Z][\w/&.-]{0,30}){1,5})"
)
_PHRASE = re.compile(r"(?<!\w)([A-Z][\w/&-]{0,30}(?: (?:(?:and|for|of|to) )?[A-Z][\w/&-]{0,30}){1,4})(?!\w)")


def al_file_names(problem_statement: str, top_k: int) -> tuple[str, ...]:
    """At most `top_k` names `<ObjectName>.<ObjectType>.al` for a Business Central report, likeliest first."""
    report = Report.read(problem_statement)
    text = report.text
    ballot = _Ballot()
    for found in _FILE_NAME.finditer(text):
        ballot.add(found[0], _FILE * report.weight(found.start()))
    for found in _TYPE_OR_NOUN.finditer(text):
        weight = report.weight(found.start())
        if found["type"]:
            _add_by_type(ballot, text, found, weight)
        else:
            _add_by_noun(ballot, text, found, weight)
    for action, times in _phrases(_ACTION, report).items():
        for object_type, worth in _ACTION_TYPES:
            _add(ballot, action.split(" "), object_type, worth * times)
    for phrase, times in _phrases(_PHRASE, report).items():
        words = _without_edges(phrase.split(" "))
        for object_type, worth in _PHRASE_TYPES if len(words) > 1 else ():
            _add(ballot, words, object_type, worth * times)
    return ballot.best(top_k)


def _phrases(pattern: re.Pattern[str], report: Report) -> dict[str, int]:
    """Each phrase that the pattern's only group finds, with the weights of its mentions added up."""
    phrases: dict[str, int] = {}
    for found in pattern.finditer(report.text):
        phrases[found[1]] = phrases.get(found[1], 0) + report.weight(found.start())
    return phrases


def _add_by_type(ballot: _Ballot, text: str, found: re.Match[str], weight: float) -> None:
    """Votes for the capitalised name before an object type, and for the one after it."""
    object_type = _OBJECT_TYPES[found["type"].replace(" ", "").lower()]
    in_call_stack = text[found.start() - 1 : found.start()] == "(" and _FRAME_END.match(text, found.end())
    worth = _CALL_STACK if in_call_stack else _BESIDE_TYPE
    _add(ballot, _name_before(text, found.start()), object_type, worth * weight)
    _add(ballot, _name_after(text, found.end()), object_type, _BESIDE_TYPE * weight)


def _add_by_noun(ballot: _Ballot, text: str, found: re.Match[str], weight: float) -> None:
    """Votes for the objects that one or two words before a noun may name."""
    noun = "entry" if found["entries"] else found["noun"].lower()
    words = _words_before(text, found.start())
    area = [word for word in words if word.lower() not in _NOT_THE_AREA]
    if noun in _DOCUMENTS and area:
        for part in ("Header", "Line"):
            _add(ballot, [area[-1], part], "Table", _IMPLIED * weight)
    if noun in ("line", "header"):
        words = area
    for start in range(len(words)):
        front = words[start:]
        name = [*front, noun]
        if noun in _RECORDS:
            _add(ballot, name, "Table", _MAIN * weight)
            if found["entries"] or found["plural"]:
                _add(ballot, [*front, found[0]], "Page", _IMPLIED * weight)
        elif noun == "setup":
            _add(ballot, name, "Table", _MAIN * weight)
            _add(ballot, name, "Page", _IMPLIED * weight)
        elif noun in _WITH_OWN_TABLES:
            _add(ballot, name, "Page", _IMPLIED * weight)
            for part in ("Header", "Line"):
                _add(ballot, [*name, part], "Table", _IMPLIED * weight)
        else:
            _add(ballot, name, "Page", _MAIN * weight)
            if noun == "card":
                _add(ballot, [*front[:-1], front[-1].removesuffix("s")], "Table", _MAIN * weight)
            elif noun == "journal":
                _add(ballot, [*name, "Line"], "Table", _IMPLIED * weight)


def _add(ballot: _Ballot, words: Sequence[str], object_type: str, weight: float) -> None:
    """Votes for the file `<ObjectName>.<ObjectType>.al` of the object that is called by these words."""
    if object_type == "Table" and [word.lower() for word in words[:2]] == ["general", "journal"]:
        words = ["Gen", *words[1:]]  # the records of the general journals are "Gen. Journal ..."
    name = _object_name(" ".join(words))
    if len(name) > 3:
        ballot.add(f"{name}.{object_type}.al", weight)


@lru_cache(maxsize=8192)
def _object_name(words: str) -> str:
    """The letters and digits of the words, each word with a capital, abbreviated where it is too long."""
    if len(words) > _LONGEST_NAME:
        words = " ".join(_ABBREVIATIONS.get(word.lower(), word) for word in words.split(" "))
    return "".join(part[0].upper() + part[1:] for part in _NAME_PART.findall(words))


def _words_before(text: str, end: int) -> list[str]:
    """At most two words directly before a noun that can be part of a name."""
    words: list[str] = []
    piece = _BREAK.split(text[max(end - _REACH, 0) : end])[-1]
    for word in reversed(piece.split(" ")[:-1]):
        if len(words) == 2 or not _can_be_in_a_name(word):
            break
        words.insert(0, word)
    return words


def _can_be_in_a_name(word: str) -> bool:
    lower = word.lower()
    if lower in _OUTSIDE_NAMES or not word[:1].isalpha() or _ends_sentence(word):
        return False
    return not lower.endswith("ing") or lower in _IN_NAMES_DESPITE_ING


def _ends_sentence(word: str) -> bool:
    return word.endswith(".") and word not in _ABBREVIATED


def _name_before(text: str, end: int) -> list[str]:
    """The capitalised words before an object type, as in `"Sales-Post"(CodeUnit`."""
    before = text[max(end - _REACH, 0) : end].rstrip(" (")
    quoted = before.endswith(tuple(_QUOTES))
    run: list[str] = []
    for word in reversed(_BREAK.split(before.rstrip(_QUOTES))[-1].split(" ")[-_LONGEST_RUN:]):
        if not (word[:1].isupper() or word in _CONNECTORS) or (run and _ends_sentence(word)):
            break
        run.insert(0, word)
    return run if quoted else _without_edges(run)


def _name_after(text: str, start: int) -> list[str]:
    """The capitalised words after an object type, as in `Codeunit 80 "Sales-Post"`."""
    gap = _AFTER_TYPE.match(text, start)
    start = gap.end() if gap else start
    quoted = text[start - 1] in _QUOTES
    run: list[str] = []
    for word in _BREAK.split(text[start : start + _REACH])[0].split(" ")[:_LONGEST_RUN]:
        if not (word[:1].isupper() or word in _CONNECTORS):
            break
        run.append(word)
        if _ends_sentence(word):
            break
    return run if quoted else _without_edges(run)


def _without_edges(words: list[str]) -> list[str]:
    """The run without what neither begins nor ends a name: "Open the" before it, "for" behind it."""
    while words and words[0].lower() in _OUTSIDE_NAMES:
        words = words[1:]
    while words and words[-1].lower() in _OUTSIDE_NAMES:
        words = words[:-1]
    return words


# --- Python: a module's name is its file's
#
# Each mention adds to the score, three times as much in the title:
#   a source file           10, and 1 more for each one mentioned before it, since a traceback ends where the
#                           fault is; test_models.py counts for models.py, Python's own library for nothing
#   a dotted name           2 the module a/b.py for a.b.Class and a.b.function(); for plain a.b.c, which may
#                           be either, 2 a/b/c.py and 1.8 a/b.py
#   a compound identifier   0.5 its file: separability_matrix.py, sky_coord.py for SkyCoord

_SOURCE_FILE, _FILE_BEFORE, _DOTTED, _PARENT_MODULE, _IDENTIFIER = 10, 1, 2, 1.8, 0.5
_SUFFIXES = "c|cc|cpp|cs|go|h|hpp|java|js|jsx|kt|php|py|pyi|pyx|rb|rs|scala|swift|ts|tsx"
_LONGEST_PATH = 250
_SOURCE_END = re.compile(rf"(?<=\w)\.(?:{_SUFFIXES})(?!\w)", re.ASCII)
_NOT_IN_A_PATH = re.compile(r"[^\w./\\~$+-]+")
_SEPARATORS = re.compile(r"[\\/]+")
_REPOSITORY_ROOT = re.compile(r"\A.*/(?:site-packages|dist-packages|blob/[^/]+|tree/[^/]+|src)/")
_PYTHON_LIBRARY = re.compile(r"(?:^|/)lib/python[\d.]+/(?!site-packages/|dist-packages/)")
_DOTTED_NAME = re.compile(
    r"(?<![\w./\\@-])([A-Za-z_]\w{0,60}(?:\.[A-Za-z_]\w{0,60}){1,8})(?![\w/\\@])(\(?)", re.ASCII
)
_MODULE_PART = re.compile("[a-z0-9_]+")
_COMPOUND = re.compile(
    r"(?<![\w.])(?:[a-z]+_[a-z_0-9]+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+)(?![\w.])", re.ASCII
)
_HUMP = re.compile("(?<=[a-z0-9])(?=[A-Z])")


def module_file_names(problem_statement: str, top_k: int) -> tuple[str, ...]:
    """At most `top_k` source files for any other report, likeliest first."""
    report = Report.read(problem_statement)
    text = report.text
    ballot = _Ballot()
    for before, found in enumerate(_SOURCE_END.finditer(text)):
        start = max(found.end() - _LONGEST_PATH, 0)
        path = _repository_path(_NOT_IN_A_PATH.split(text[start : found.end()])[-1])
        if path:
            ballot.add(path, (_SOURCE_FILE + before * _FILE_BEFORE) * report.weight(found.start()))
    for found in _DOTTED_NAME.finditer(text):
        _add_modules(ballot, found[1].split("."), bool(found[2]), report.weight(found.start()))
    for found in _COMPOUND.finditer(text):
        ballot.add(f"{_HUMP.sub('_', found[0]).lower()}.py", _IDENTIFIER * report.weight(found.start()))
    return ballot.best(top_k)


def _repository_path(mention: str) -> str:
    """A mentioned file as its repository may call it; empty for a file of Python's own library."""
    path = _SEPARATORS.sub("/", mention)
    if _PYTHON_LIBRARY.search(path):
        return ""
    folders, _, name = _REPOSITORY_ROOT.sub("", path).lstrip("./~").rpartition("/")
    if name.startswith("test_"):
        name = name.removeprefix("test_")
        folders = "/".join(folder for folder in folders.split("/") if folder != "tests")
    return f"{folders}/{name}" if folders else name


def _add_modules(ballot: _Ballot, parts: Sequence[str], called: bool, weight: float) -> None:
    """Votes for the modules of a dotted name: everything before its class or function."""
    if parts[0] in ("self", "cls") or parts[-1] in _SUFFIXES.split("|"):
        return
    module = list(takewhile(_MODULE_PART.fullmatch, parts))
    names_a_class = len(module) < len(parts)
    if called and not names_a_class:
        module.pop()
    if module:
        ballot.add("/".join(module) + ".py", _DOTTED * weight)
    if not called and not names_a_class and len(module) > 1:
        ballot.add("/".join(module[:-1]) + ".py", _PARENT_MODULE * weight)
