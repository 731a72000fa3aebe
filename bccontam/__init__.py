"""bccontam measures how much a model may have memorised a benchmark of coding agents.

It asks the model, with nothing but the bug report, which files a fix must change, scores the answer
against the gold patch, and compares entries created before a cutoff with fresh ones.
"""

__version__ = "0.1.0"
