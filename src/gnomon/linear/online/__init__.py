"""Row by row: perceptron, passive–aggressive and stochastic gradient learners, from memory or from streams."""
