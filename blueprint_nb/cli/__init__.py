"""The command line: `blueprint-nb report | sweep | vidur | show | lab`.

Results go to standard output, messages to standard error. Exit status 0 when there is a result (with a warning where
it does not fit), 1 when standard output can't be written, 2 and one sentence for bad input, 130 when interrupted, 128
and the signal's number when told to end. The engine is imported by the command that needs it, so that `--version` and
`--help` answer at once.
"""

from .application import main

__all__ = ["main"]
