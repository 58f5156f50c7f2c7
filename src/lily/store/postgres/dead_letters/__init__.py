"""Dead letters: refused events, jobs and reaction events, kept so that they can be listed and replayed."""
