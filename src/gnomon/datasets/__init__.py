"""Small real data sets and the generators of the textbooks' examples."""
