"""`python -m lily` is the same as `lily`."""

from lily.cli import main

main()
