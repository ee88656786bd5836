"""The numbers by which the loops of dense networks know activations, losses and update rules."""

IDENTITY, LOGISTIC, TANH, RELU, LEAKY_RELU, ELU, RBF, MAXOUT, SIGN = range(9)
SQUARED, ABSOLUTE, HUBER, LOG_BINARY, LOG_CLASSES = range(5)
HINGE, HINGE_CLASSES, PERCEPTRON, SIGMOID_SQUARED, POISSON = range(5, 10)
SGD, ADAM, ADAGRAD = range(3)
LEAK = 0.1  # slope of the leaky ReLU below zero
