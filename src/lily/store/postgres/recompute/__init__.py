"""Full recomputation: its queries, and the comparison of derived attributes."""
