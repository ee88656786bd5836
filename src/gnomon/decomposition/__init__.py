"""Many columns by few: projections, factor models, kernels, non-negative parts."""

from gnomon._lazy import attach

_FILES = {
    "cca": ["CCA", "KernelCCA"],
    "factor": ["FactorAnalysis"],
    "fisher": ["FisherProjection"],
    "images": ["compare_image_bases"],
    "incremental": ["IncrementalPCA"],
    "kernel_pca": ["KernelPCA"],
    "nmf": ["NMF", "nmf_step", "normalize_topics"],
    "patches": [
        "denoise_image",
        "extract_patches",
        "inpaint_image",
        "psnr",
        "reconstruct_from_patches",
    ],
    "pca": ["PCA"],
    "ppca": ["ProbabilisticPCA"],
    "rotations": ["rotate_components"],
    "scaling": ["ClassicalMDS", "MDS"],
    "singular": ["svd"],
    "sparse_pca": ["SparsePCA"],
    "subspaces": [
        "kernel_qr",
        "principal_angles",
        "project",
        "projection_matrix",
        "qr",
        "rayleigh_quotient",
        "subspace_distance",
        "top_eigenvectors",
    ],
    "truncated": ["TruncatedSVD"],
}

__getattr__, __dir__, __all__ = attach(__name__, {name: file for file in _FILES for name in _FILES[file]})
