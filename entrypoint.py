"""What the container runs: hands the runner's environment to `bccontam.action` and exits with its code."""

from __future__ import annotations

import os
import sys

from bccontam.action import main

if __name__ == "__main__":
    sys.exit(main(os.environ))
