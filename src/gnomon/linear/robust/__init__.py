"""Losses that forgive rows far away: quantiles, Huber, Student-t."""
