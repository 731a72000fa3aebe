"""What stands before a repository-relative path: a URL, a checkout folder, the repository's own name.

Text only: it knows no gold path and no file system, so where a prefix may be part of the path it stays.
"""

from __future__ import annotations

import re

from bccontam.answer.text import words

_TOP_FOLDERS = words(
    "src source app apps lib libs test tests doc docs packages pkg cmd include internal examples samples scripts tools "
    "build modules layers extensions .github .azure-pipelines"
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
    ("mnt", "*"),
    ("opt", "*"),
    ("srv", "*"),
    ("workspaces",),
    ("repos",),
    ("tmp",),
)
"""Folders that agent harnesses, containers and CI services check out into; `*` is any one folder."""

_HOMES = frozenset({"home", "Users", "users"})
_HOME_FOLDERS = words("code desktop dev documents git github projects repo repos source work workspace")
_BRANCH_FOLDERS = words(
    "release releases feature features feat bugfix bug hotfix fix fixes dev topic chore task support heads tags branch "
    "branches copilot renovate backport"
)
_USER_BRANCHES = frozenset({"users", "user", "private", "dependabot"})
_VERSION = re.compile(r"v?\d+(?:\.\w+)*")

_URL = re.compile(r"<?([A-Za-z][A-Za-z0-9+.-]*):/{2,3}(.*)", re.DOTALL)
_FORGE = re.compile(
    r"(?:www\.)?(github\.com|gitlab\.com|bitbucket\.org|codeberg\.org|dev\.azure\.com|raw\.githubusercontent\.com)/",
    re.IGNORECASE,
)
_FOREIGN_VIEW = re.compile(r"[\w.-]+/[\w.-]+/(?:-/)?(?:blob|raw|tree)/(?:main|master|HEAD|[0-9a-f]{40})/")
_MAX_GROUPS = 12  # components before the view: the groups of GitLab may be nested
_VIEWS = frozenset({"blob", "raw", "tree", "blame", "edit", "contents", "browse"})
_NO_FILES = words(
    "pull pulls issues issue commit commits wiki releases discussions actions compare merge_requests"
)
_FILE_NAME = re.compile(r"[^.]\.[A-Za-z]\w*$")
_QUERY_PATH = re.compile(r"[?&](?:path|file)=([^&#]*)", re.IGNORECASE)

_DRIVE = re.compile(r"(?:\\\\[?.]\\)?[A-Za-z]:[\\/]")
_SHARE = re.compile(r"\\\\([^\\/]+)[\\/]+[^\\/]+[\\/]+")
_PLACEHOLDER = re.compile(r"(?:\$\w+|\$\{[^{}/]*\}|\$\([^()/]*\)|%\w+%|<[^<>/]*>|~|\.{3,}|…)[\\/]+")


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
    """The components of the path in a URL that are below the repository's root at some ref."""
    if host.startswith("raw."):
        return _without_ref(parts[2:])
    pinned = next((index for index, part in enumerate(parts[:3]) if "@" in part), None)  # owner/name@ref
    for index in range(2, min(len(parts) - 1, _MAX_GROUPS)):
        view, rest = parts[index], parts[index + 1 :]
        if view == "contents" or (view in _VIEWS and pinned is not None):
            return rest
        if view in _VIEWS:
            return _without_ref(rest)
        if view == "src" and index == 2 and "github" not in host:
            return _without_ref(rest[1:] if rest[0] in ("branch", "tag", "commit") else rest)
    if pinned is not None:
        return parts[pinned + 1 :]
    if not parts or parts[2:3] == ["-"] or not _NO_FILES.isdisjoint(parts[2:3]):
        return []
    return (parts[2:] if _FORGE.match(f"{host}/") else parts) if _FILE_NAME.search(parts[-1]) else []


def _without_ref(parts: list[str]) -> list[str]:
    """The path after a branch, tag or commit.

    A branch may hold a slash (`releases/26.0`), and nothing says where it ends: after the usual folders of
    branches it takes another component, or two (`users/me/topic`), unless a usual top directory stands there.
    """
    if parts[:1] == ["refs"]:
        parts = parts[2:]
    if not parts:
        return []
    folder = parts[0].lower()
    length = 3 if folder in _USER_BRANCHES else 2 if folder in _BRANCH_FOLDERS else 1
    if length == 1 and len(parts) > 2 and _VERSION.fullmatch(parts[1]) and _is_top_folder(parts[2]):
        length = 2
    inner = [index for index in range(1, min(length, len(parts))) if _is_top_folder(parts[index])]
    return parts[min([*inner, length]) :]


def _is_top_folder(name: str) -> bool:
    return name.lower() in _TOP_FOLDERS


def drop_checkout(text: str, repo: str | None) -> str:
    """An absolute path (drive, share, `/`, `~`, a variable) without the folder the repository lies in."""
    if (placeholder := _PLACEHOLDER.match(text)) is not None:
        rest = text[placeholder.end() :]
        return "/".join(_after_home(_components(rest), repo)) if text.startswith("~") else rest
    share = _SHARE.match(text)
    if share is not None and _is_top_folder(share[1]):  # a doubled backslash, not a server
        share = None
    if (prefix := _DRIVE.match(text) or share) is not None:
        text = "/" + text[prefix.end() :]
    return "/".join(_after_checkout(_components(text), repo)) if text.startswith(("/", "\\")) else text


def _components(path: str) -> list[str]:
    return [part for part in re.split(r"[\\/]+", path) if part]


def _after_checkout(parts: list[str], repo: str | None) -> list[str]:
    for checkout in _CHECKOUTS:
        if len(parts) > len(checkout) and all(map(_same_folder, checkout, parts)):
            rest = parts[len(checkout) :]
            is_instance = len(rest) > 1 and "__" in rest[0].strip("_")  # such as django__django__4.2
            return rest[1:] if is_instance else rest
    name = _name_of(repo)
    if name in parts[:-1]:
        return parts[parts.index(name) :]
    if len(parts) > 3 and parts[0] in _HOMES:
        return _after_home(parts[2:], repo)
    return _after_home(parts[1:], repo) if len(parts) > 2 and parts[0] == "root" else parts


def _same_folder(pattern: str, folder: str) -> bool:
    return not _is_top_folder(folder) if pattern == "*" else folder == pattern


def _after_home(parts: list[str], repo: str | None) -> list[str]:
    """Below a home directory: past the folders people keep their checkouts in, then the checkout."""
    name = _name_of(repo)
    if name in parts[:-1]:
        return parts[parts.index(name) :]
    while len(parts) > 2 and parts[0].lower() in _HOME_FOLDERS:
        parts = parts[1:]
    return parts[1:] if len(parts) > 2 and not _is_top_folder(parts[0]) else parts


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
    for _ in range(3):  # owner/name/name
        parts = parts[_leading_names(parts, owner, name) :]
    return "/".join(parts)


def _leading_names(parts: list[str], owner: str, name: str) -> int:
    """How many components at the beginning are the repository's name and not part of the path."""
    if len(parts) < 2:
        return 0
    same = [part.lower() for part in parts[:2]] == [owner.lower(), name.lower()]
    if same and owner.lower() != name.lower() and len(parts) > 2:
        return 2
    archive = rf"{re.escape(name)}-(?:main|master|develop|v?\d[\w.]*|[0-9a-f]{{7,40}})"
    if re.fullmatch(archive, parts[0]):
        return 1
    return int(parts[0] == name and _is_only_a_name(name, parts[1:]))


def _is_only_a_name(name: str, rest: list[str]) -> bool:
    if name in rest[:-1][:2] or not re.fullmatch(r"\w+", name):
        return True
    if name == name.lower() or len(rest) < 2:
        return False
    return _is_top_folder(rest[0]) or rest[0].lower() == name.lower()


def _owner_of(repo: str | None) -> str:
    return repo.rpartition("/")[0].rpartition("/")[2] if repo else ""


def _name_of(repo: str | None) -> str:
    return repo.rpartition("/")[2] if repo else ""
