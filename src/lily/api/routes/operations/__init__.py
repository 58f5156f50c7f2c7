"""Operations: health, metrics, and dead letters with their replay."""
