"""Generated programs, run by a library and by what it promises to agree with; differences are
shrunk to one small program each. `casebook hunt` is the command."""
