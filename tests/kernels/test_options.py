"""A kernel given as a function takes its parameters along."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.kernel_ridge import KernelRidge as PeerRidge

from gnomon.kernels import KernelRidge, Nystroem


def test_a_kernel_of_a_function_has_its_parameters():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)

    def power(a, b, degree=1):
        return (1.0 + a @ b) ** degree

    ours = KernelRidge(alpha=0.5, kernel=power, kernel_params={"degree": 3}).fit(X, y)
    theirs = PeerRidge(alpha=0.5, kernel="poly", degree=3, gamma=1.0, coef0=1.0).fit(X, y)
    assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6)
    few = Nystroem(kernel=power, kernel_params={"degree": 2}, n_components=20, random_state=0).fit(X)
    Z = few.transform(X)
    assert_allclose(Z @ Z.T, (1.0 + X @ X.T) ** 2, atol=1e-6)
    assert sorted(few.component_indices_) == list(range(20))
