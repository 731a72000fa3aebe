# The action's image. `full` (the default, last) holds the Copilot CLI; `slim` is for a chat-completions server,
# `naming`, `replay` and `report`:
#
#   docker build -t bccontam .
#   docker build -t bccontam:slim --target slim .
#
# A runner mounts its folders over /github, runs as root and sets HOME and the work folder itself, so there is no
# USER, no WORKDIR in the final image and nothing in HOME. Every stage stands on one base image; a release gives it
# with its digest.
ARG BASE=python:3.12-slim-bookworm

# What is locked, with nothing that installs. Bytecode is made here, unchecked against its source: a container would
# make it anew at each start. Packages that are never imported go without.
FROM ${BASE} AS python
COPY requirements/run.txt /src/
RUN python3 -m venv --without-pip /opt/bccontam/venv \
    && python3 -m pip --python /opt/bccontam/venv/bin/python install --no-cache-dir --no-compile \
        --only-binary :all: --require-hashes -r /src/run.txt \
    && for site in /opt/bccontam/venv/lib/python3*/site-packages; do echo /opt/bccontam/app >"$site/bccontam.pth"; done \
    && python3 -m compileall -q -j 0 --invalidation-mode unchecked-hash \
        -x '/(cffi|markdown_it|pycparser|pygments|pydantic/v1)/' /opt/bccontam/venv/lib

FROM python AS python-full
COPY requirements/copilot.txt /src/
RUN python3 -m pip --python /opt/bccontam/venv/bin/python install --no-cache-dir --no-compile \
        --only-binary :all: --require-hashes -r /src/copilot.txt \
    && python3 -m compileall -q -j 0 --invalidation-mode unchecked-hash \
        -x '/(cffi|markdown_it|pycparser|pygments|pydantic/v1)/' /opt/bccontam/venv/lib

# The CLI as it was published, for the machine that builds; its licence asks for the text beside it.
# What it unpacks at its first start stays out: 245 MB, 87 MB of them in the pull, cost every job some 2 s (1.4 s of
# them for unpacking the layer), to save 1.0 to 1.4 s in those that ask Copilot (bench/container.py).
FROM ${BASE} AS copilot
COPY script/install-copilot /src/script/
RUN /src/script/install-copilot /opt/copilot

# `entries: changed` reads commits from the checkout. The one program is 3.7 MB and needs only what the base has;
# Debian's package with Perl and what else it depends on is 127 MB.
FROM ${BASE} AS git
WORKDIR /src
RUN apt-get update \
    && apt-get download git \
    && dpkg-deb -x git_*.deb /git \
    && /git/usr/bin/git --version

FROM ${BASE} AS app
COPY LICENSE entrypoint.py /opt/bccontam/app/
COPY bccontam /opt/bccontam/app/bccontam
RUN python3 -m compileall -q --invalidation-mode unchecked-hash /opt/bccontam/app

# `-I`: nothing of the workspace, of HOME or of PYTHON* variables can take the place of a module.
FROM ${BASE} AS common
RUN library="$(python3 -c 'import os; print(os.path.dirname(os.__file__))')" \
    && python3 -m compileall -q -j 0 "$library" -x \
        '/(curses|ensurepip|idlelib|lib2to3|multiprocessing|pydoc_data|site-packages|sqlite3|test|tkinter|turtledemo|unittest|venv|wsgiref|xml|xmlrpc)/'
COPY --from=git /git/usr/bin/git /usr/bin/git
COPY --from=git /git/usr/share/doc/git/copyright /usr/share/doc/git/copyright
COPY --from=app /opt/bccontam/app /opt/bccontam/app
ENTRYPOINT ["/opt/bccontam/venv/bin/python", "-I", "-u", "-X", "utf8", "/opt/bccontam/app/entrypoint.py"]

FROM common AS slim
COPY --from=python /opt/bccontam/venv /opt/bccontam/venv

FROM common AS full
COPY --from=copilot /opt/copilot/copilot /opt/copilot/LICENSE.md /opt/copilot/
COPY --from=python-full /opt/bccontam/venv /opt/bccontam/venv
