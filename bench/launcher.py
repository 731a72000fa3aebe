"""Starts one command, waits for it and writes what it took to a pipe. It knows nothing of this project.

`bench.process` runs it as `python -I -S bench/launcher.py FD COMMAND...`: Linux counts the memory of the process
that starts another into the other's peak, so that the one who starts has to be small. FD then holds exit
status, seconds of wall and processor time and KiB at the peak; or `!` and why the command did not start.
"""

import os
import sys
import time


def main() -> None:
    """Launch `sys.argv[2:]`."""
    report = int(sys.argv[1])
    os.set_inheritable(report, False)
    start = time.perf_counter()
    try:
        child = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
    except OSError as error:
        os.write(report, f"! {error.strerror}".encode())
        return
    _, status, used = os.wait4(child, 0)
    wall = time.perf_counter() - start
    code = os.waitstatus_to_exitcode(status)
    os.write(report, f"{code} {wall} {used.ru_utime + used.ru_stime} {used.ru_maxrss}".encode())


if __name__ == "__main__":
    main()
