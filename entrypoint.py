"""What the container runs: hands the runner's environment to `bccontam.action` and exits with its code."""

from __future__ import annotations

import os
import sys

from bccontam.interpreter import lean_interpreter

if __name__ == "__main__":
    with lean_interpreter():
        from bccontam.action import main

        code = main(os.environ)
    sys.exit(code)
