"""What a full recomputation reads, and the comparison of derived attributes."""
