"""`python -m bccontam` is the command line."""

from bccontam.cli import main

main()
