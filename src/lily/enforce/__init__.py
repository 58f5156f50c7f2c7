"""Makes data tools obey: turns what an engine wants to do into questions for the policies, and decisions into what the
engine understands. One folder per engine; `questions.py` has what they share."""
