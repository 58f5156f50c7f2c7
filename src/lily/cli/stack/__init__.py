"""`lily up`, `lily down` and `lily status`: the embedded stack of one data directory; `lily doctor`: what it needs."""
