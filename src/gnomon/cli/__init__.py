"""The command line: ``gnomon compare data.csv --target y`` and its companions."""
