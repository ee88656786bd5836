"""Maximum margins: linear support vector machines, separability, convex hulls."""
