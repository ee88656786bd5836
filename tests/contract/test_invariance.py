"""Where zero lies: rows moved by 2³⁰ get the same answers, or the model says that it cannot.

Rows on a grid of sixty-fourths lose no digit on the way. Models whose answer depends on zero by their definition, or
whose draws depend on the values of the rows, are listed with the reason; whoever is not listed has promised.
"""

import warnings

import numpy as np
import pytest

from compare import dense
from contract.discovery import MATRIX
from gnomon.core.errors import GnomonError

FAR = 2.0**30
DIGITS = 1e-4  # of the largest entry: columns of this size are rounded at 2⁻²²

COUNTS = "columns are counts, or zero and the rest"
ONLINE = "steps begin at weights of zero and follow the rows as they are"
DRAWS = "what is drawn depends on the values of the rows, so that their order does not matter"
AS_GIVEN = "returns rows, or functions of their columns as they are"
OF_ZERO = {
    "AspectModel": COUNTS,
    "BaggingRegressor": DRAWS,
    "BasisExpansion": AS_GIVEN,
    "BernoulliMixture": COUNTS,
    "BernoulliNB": COUNTS,
    "BinomialMixture": COUNTS,
    "CategoricalMixture": COUNTS,
    "ClusterFeatures": DRAWS,
    "ComplementNB": COUNTS,
    "ExponentialMixture": "columns are waiting times",
    "GenerativeAdversarialNetwork": "a network of float32",
    "KMeans": DRAWS,
    "KMedians": DRAWS,
    "KRepresentatives": DRAWS,
    "KernelPerceptron": "the default kernel is the inner product",
    "KernelRidge": "the default kernel is the inner product",
    "MLPClassifier": ONLINE,
    "MLPRegressor": ONLINE,
    "MiniBatchKMeans": DRAWS,
    "MissingGaussian": AS_GIVEN,
    "MultinomialMixture": COUNTS,
    "MultinomialNB": COUNTS,
    "NMF": "factors are not negative",
    "PassiveAggressiveClassifier": ONLINE,
    "PassiveAggressiveRegressor": ONLINE,
    "Pegasos": ONLINE,
    "Perceptron": ONLINE,
    "PoissonMixture": COUNTS,
    "PoissonNB": COUNTS,
    "PolynomialFeatures": AS_GIVEN,
    "RBFSampler": "waves of which only the distances between rows are invariant",
    "RandomForestClassifier": DRAWS,
    "RandomForestRegressor": DRAWS,
    "SoftKMeans": DRAWS,
    "SpectralClustering": DRAWS,
    "TruncatedRBFMap": "a series around zero",
    "TruncatedSVD": "columns are not centered",
    "VariationalAutoencoder": "a network of float32",
    "VectorQuantizer": AS_GIVEN,
}
INVARIANT = [one for one in MATRIX if one.cls.__name__ not in OF_ZERO and one.recipe.data is None]


@pytest.mark.parametrize("subject", INVARIANT, ids=repr)
def test_answers_do_not_depend_on_where_zero_lies(subject):
    data = subject.rows()
    near = data._replace(X=np.round(64 * np.asarray(data.X, dtype=np.float64)) / 64)
    far = near._replace(X=near.X + FAR)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        expected = subject.answers(subject.fit(near), near.X)
        said.clear()
        try:
            found = subject.answers(subject.fit(far), far.X)
        except GnomonError:
            return  # it says that it cannot
    if said:
        return
    for name, values in expected.items():
        one, other = dense(values), dense(found[name])
        if one.dtype.kind != "f":
            assert (one == other).mean() > 0.98, f"{name} is another one far from zero"
        else:
            size = np.abs(one[np.isfinite(one)]).max(initial=1e-300)
            np.testing.assert_allclose(other, one, atol=DIGITS * size, err_msg=name)
