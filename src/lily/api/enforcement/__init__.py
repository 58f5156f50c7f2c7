"""Decides what engines ask about: the questions of their protocols, by the policies in force."""
