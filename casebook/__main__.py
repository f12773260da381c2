"""`python -m casebook COMMAND`: the tooling of the book."""

import os
import sys

if sys.path and os.path.abspath(sys.path[0]) == os.getcwd():
    del sys.path[0]  # `python -m` puts the working folder there: its json.py is not Python's

from casebook.cli import main

if __name__ == "__main__":
    sys.exit(main())
