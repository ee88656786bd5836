"""Many columns by few: projections, factor models, kernels, non-negative parts."""

from gnomon._lazy import attach

_FILES = {
    "cca": ["CCA"],
    "classical": ["ClassicalMDS"],
    "factor": ["FactorAnalysis"],
    "fisher": ["FisherProjection"],
    "incremental": ["IncrementalPCA"],
    "kernel_cca": ["KernelCCA"],
    "kernel_pca": ["KernelPCA"],
    "nmf": ["NMF"],
    "patches": [
        "denoise_image",
        "extract_patches",
        "inpaint_image",
        "reconstruct_from_patches",
    ],
    "pca": ["PCA"],
    "ppca": ["ProbabilisticPCA"],
    "rotations": ["rotate_components"],
    "scaling": ["MDS"],
    "singular": ["svd"],
    "sparse_pca": ["SparsePCA"],
    "subspaces": [
        "principal_angles",
        "project",
        "qr",
        "top_eigenvectors",
    ],
    "truncated": ["TruncatedSVD"],
}

__getattr__, __dir__, __all__ = attach(__name__, {name: file for file in _FILES for name in _FILES[file]})
