"""What stands before a repository-relative path: a URL, a checkout folder, the repository's own name.

Text only: it knows no gold path and no file system, so where a prefix may be part of the path it stays.
"""

from __future__ import annotations

import re

_TOP_FOLDERS = frozenset(
    "src source app apps lib libs test tests doc docs packages pkg cmd include internal examples samples scripts tools "
    "build modules layers extensions .github .azure-pipelines".split()
)
"""Usual top directories (lower-cased): where one stands, the path in the repository has begun."""

_CHECKOUTS: tuple[tuple[str, ...], ...] = (
    ("github", "workspace"),
    ("home", "runner", "work", "*", "*"),
    ("home", "vsts", "work", "*", "s"),
    ("agent", "_work", "*", "s"),
    ("a", "*", "s"),
    ("__w", "*", "*"),
    ("builds", "*", "*"),
    ("usr", "src", "app"),
    ("var", "task"),
    ("workspaces", "*"),
    ("workspace",),
    ("testbed",),
    ("repository",),
    ("repo",),
    ("repos", "*"),
    ("app",),
    ("code",),
    ("project",),
    ("tmp", "*"),
)
"""Folders that agent harnesses, containers and CI services check out into; `*` is any one folder."""

_HOMES = frozenset({"home", "Users", "users"})
_HOME_FOLDERS = frozenset(
    "code desktop dev documents git github projects repo repos source work workspace".split()
)
_BRANCH_FOLDERS = frozenset(
    "release releases feature features feat bugfix bug hotfix fix fixes dev users user topic private chore task support "
    "heads tags branch branches copilot dependabot renovate backport".split()
)
_VERSION = re.compile(r"v?\d+(?:\.\w+)*")

_URL = re.compile(r"<?([A-Za-z][A-Za-z0-9+.-]*):/{2,3}(.*)", re.DOTALL)
_FORGE = re.compile(
    r"(?:www\.)?(github\.com|gitlab\.com|bitbucket\.org|codeberg\.org|dev\.azure\.com|raw\.githubusercontent\.com)/",
    re.IGNORECASE,
)
_FOREIGN_VIEW = re.compile(r"[\w.-]+/[\w.-]+/(?:-/)?(?:blob|raw|tree)/(?:main|master|HEAD|[0-9a-f]{40})/")
_VIEWS = frozenset({"blob", "raw", "tree", "blame", "edit", "contents", "browse"})
_NO_FILES = frozenset(
    "pull pulls issues issue commit commits wiki releases discussions actions compare merge_requests".split()
)
_QUERY_PATH = re.compile(r"[?&](?:path|file)=([^&#]*)", re.IGNORECASE)

_DRIVE = re.compile(r"(?:\\\\[?.]\\)?[A-Za-z]:[\\/]")
_SHARE = re.compile(r"\\\\([^\\/]+)[\\/]+[^\\/]+[\\/]+")
_PLACEHOLDER = re.compile(r"(?:\$\w+|\$\{[^{}/]*\}|\$\([^()/]*\)|%\w+%|<[^<>/]*>|~|\.{3,}|…)[\\/]+")
_INSTANCE_FOLDER = re.compile(r"[A-Za-z0-9][\w.-]*?__[\w.-]+")


def path_of_url(text: str) -> str | None:
    """The repository path in the URL of a file, still percent-encoded; None when `text` is no URL.

    Knows the file views of GitHub, GitLab, Bitbucket, Gitea, Azure DevOps and raw content hosts. Empty when
    the URL shows no file (a pull request, a site). A `file:` URL gives an absolute path.
    """
    if (url := _URL.match(text)) is not None:
        scheme, rest = url[1].lower(), url[2]
        if scheme == "file":
            return "/" + rest.removeprefix("localhost/").lstrip("/")
        if len(scheme) == 1:  # a Windows drive
            return None
        host, _, path = rest.partition("/")
        if host == "file":  # an editor's link, vscode://file/...
            return f"/{path}"
    elif _FORGE.match(text) is not None:
        host, _, path = text.partition("/")
    elif _FOREIGN_VIEW.match(text) is not None:
        host, path = "", text
    else:
        return None
    if (query := _QUERY_PATH.search(path)) is not None:
        return re.sub("%2f", "/", query[1], flags=re.IGNORECASE).lstrip("/")
    parts = [part for part in re.split(r"[?#]", path, maxsplit=1)[0].split("/") if part]
    return "/".join(_file_of_view(host.lower(), parts))


def _file_of_view(host: str, parts: list[str]) -> list[str]:
    if host.startswith("raw."):
        return _without_ref(parts[2:])
    for index, part in enumerate(parts[:-1]):
        if index >= 2 and (part in _VIEWS or (part == "src" and index == 2 and "github" not in host)):
            rest = parts[index + 1 :]
            if part == "contents" or (parts[index - 1] == "-" and "@" in "".join(parts[: index - 1])):
                return rest
            return _without_ref(rest[1:] if rest[0] in ("branch", "tag", "commit") and index == 2 else rest)
    if any(part in _NO_FILES for part in parts[2:3]) or parts[2:3] == ["-"]:
        return []
    at = next((index for index, part in enumerate(parts[:3]) if "@" in part), None)
    if at is not None and "." not in parts[0]:
        return parts[at + 1 :]
    path = parts[2:] if _FORGE.match(host + "/") else parts
    return path if path and re.search(r"[^.]\.[A-Za-z]\w*$", path[-1]) else []


def _without_ref(parts: list[str]) -> list[str]:
    """The path after a branch, tag or commit. A branch may hold slashes (`releases/26.0`): then it ends
    before the next usual top directory, else after two components."""
    if parts[:1] == ["refs"]:
        parts = parts[2:]
    if not parts:
        return []
    ends = [index for index in range(1, min(4, len(parts))) if parts[index].lower() in _TOP_FOLDERS]
    if parts[0].lower() in _BRANCH_FOLDERS:
        return parts[ends[0] :] if ends else parts[2:]
    if ends and all(_VERSION.fullmatch(part) for part in parts[1 : ends[0]]):
        return parts[ends[0] :]
    return parts[1:]


def drop_checkout(text: str, repo: str | None) -> str:
    """An absolute path (drive, share, `/`, `~`, a variable) without the folder the repository lies in."""
    if (placeholder := _PLACEHOLDER.match(text)) is not None:
        home = text.startswith("~")
        rest = text[placeholder.end() :]
        return "/".join(_after_home(re.split(r"[\\/]+", rest), repo)) if home else rest
    prefix = _DRIVE.match(text) or _SHARE.match(text)
    if prefix is not None and prefix.re is _SHARE and prefix[1].lower() in _TOP_FOLDERS:  # doubled, no server
        prefix = None
    if prefix is None and not text.startswith(("/", "\\")):
        return text
    rest = text[prefix.end() :] if prefix is not None else text
    parts = [part for part in re.split(r"[\\/]+", rest) if part]
    return "/".join(_after_checkout(parts, repo))


def _after_checkout(parts: list[str], repo: str | None) -> list[str]:
    for checkout in _CHECKOUTS:
        if len(parts) > len(checkout) and all(map(_same_folder, checkout, parts)):
            rest = parts[len(checkout) :]
            return rest[1:] if len(rest) > 1 and _INSTANCE_FOLDER.fullmatch(rest[0]) else rest
    name = _name_of(repo)
    if name in parts[:-1]:
        return parts[parts.index(name) :]
    if len(parts) > 3 and parts[0] in _HOMES:
        return _after_home(parts[2:], repo)
    return _after_home(parts[1:], repo) if len(parts) > 2 and parts[0] == "root" else parts


def _same_folder(pattern: str, folder: str) -> bool:
    return folder.lower() not in _TOP_FOLDERS if pattern == "*" else folder == pattern


def _after_home(parts: list[str], repo: str | None) -> list[str]:
    """Below a home directory: past the folders people keep their checkouts in, then the checkout."""
    name = _name_of(repo)
    if name in parts[:-1]:
        return parts[parts.index(name) :]
    while len(parts) > 2 and parts[0].lower() in _HOME_FOLDERS:
        parts = parts[1:]
    return parts[1:] if len(parts) > 2 and parts[0].lower() not in _TOP_FOLDERS else parts


def drop_repository_name(path: str, repo: str | None) -> str:
    """`path` without the repository's name before it, where that cannot be a directory of the repository.

    `owner/name/` always goes. A name alone may be the top directory (`astropy/io/fits.py` in
    astropy/astropy; 76 of the 171 repositories of SWE-bench Verified and Loc-Bench are like that), and
    the parser knows no gold path: what the model wrote stays, unless the name occurs again right after
    (`astropy/astropy/table.py`, `flask/src/flask/app.py`), or it cannot be a package (`scikit-learn`), or it
    is written with capitals and a usual top directory follows (`BCApps/src`).
    """
    owner, name = _owner_of(repo), _name_of(repo)
    if not name:
        return path
    parts = path.split("/")
    if (
        owner.lower() != name.lower()
        and len(parts) > 2
        and [part.lower() for part in parts[:2]] == [owner.lower(), name.lower()]
    ):
        parts = parts[2:]
    while len(parts) > 1 and parts[0] == name and _is_only_a_name(name, parts[1:]):
        parts = parts[1:]
    return "/".join(parts)


def _is_only_a_name(name: str, rest: list[str]) -> bool:
    if name in rest[:-1][:2] or not re.fullmatch(r"\w+", name):
        return True
    if name == name.lower() or len(rest) < 2:
        return False
    return rest[0].lower() in _TOP_FOLDERS or rest[0].lower() == name.lower()


def _owner_of(repo: str | None) -> str:
    return repo.rpartition("/")[0].rpartition("/")[2] if repo else ""


def _name_of(repo: str | None) -> str:
    return repo.rpartition("/")[2] if repo else ""
