"""Measurements side by side with what a user would pick instead: `python -m bench`, or `make bench`.

`measurements.py` names them all; each has a file of its own, with how it measures at its top. The rest is what they
share: the stack, the load, and how numbers become a verdict.
"""
