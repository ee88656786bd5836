# Written by scripts/stubs from the package's `attach` call; do not edit.
from .cca import CCA as CCA
from .classical import ClassicalMDS as ClassicalMDS
from .factor import FactorAnalysis as FactorAnalysis
from .fisher import FisherProjection as FisherProjection
from .images import compare_image_bases as compare_image_bases
from .incremental import IncrementalPCA as IncrementalPCA
from .kernel_cca import KernelCCA as KernelCCA
from .kernel_pca import KernelPCA as KernelPCA
from .multiplicative import nmf_step as nmf_step
from .multiplicative import normalize_topics as normalize_topics
from .nmf import NMF as NMF
from .patches import denoise_image as denoise_image
from .patches import extract_patches as extract_patches
from .patches import inpaint_image as inpaint_image
from .patches import psnr as psnr
from .patches import reconstruct_from_patches as reconstruct_from_patches
from .pca import PCA as PCA
from .ppca import ProbabilisticPCA as ProbabilisticPCA
from .rotations import rotate_components as rotate_components
from .scaling import MDS as MDS
from .singular import svd as svd
from .sparse_pca import SparsePCA as SparsePCA
from .subspaces import kernel_qr as kernel_qr
from .subspaces import principal_angles as principal_angles
from .subspaces import project as project
from .subspaces import projection_matrix as projection_matrix
from .subspaces import qr as qr
from .subspaces import rayleigh_quotient as rayleigh_quotient
from .subspaces import subspace_distance as subspace_distance
from .subspaces import top_eigenvectors as top_eigenvectors
from .truncated import TruncatedSVD as TruncatedSVD

__all__ = ["CCA", "ClassicalMDS", "FactorAnalysis", "FisherProjection", "IncrementalPCA", "KernelCCA", "KernelPCA", "MDS", "NMF", "PCA", "ProbabilisticPCA", "SparsePCA", "TruncatedSVD", "compare_image_bases", "denoise_image", "extract_patches", "inpaint_image", "kernel_qr", "nmf_step", "normalize_topics", "principal_angles", "project", "projection_matrix", "psnr", "qr", "rayleigh_quotient", "reconstruct_from_patches", "rotate_components", "subspace_distance", "svd", "top_eigenvectors"]
