"""What the container runs: hands the runner's environment to `bccontam.action` and exits with its code."""

from __future__ import annotations

import os
import sys

# Looking for pydantic's plugins reads the metadata of every installed package, 20 ms a start; there are none.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

from bccontam.action import main

if __name__ == "__main__":
    sys.exit(main(os.environ))
