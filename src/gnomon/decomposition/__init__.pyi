# Written by scripts/stubs from the package's `attach` call; do not edit.
from .cca import CCA as CCA
from .classical import ClassicalMDS as ClassicalMDS
from .factor import FactorAnalysis as FactorAnalysis
from .fisher import FisherProjection as FisherProjection
from .incremental import IncrementalPCA as IncrementalPCA
from .kernel_cca import KernelCCA as KernelCCA
from .kernel_pca import KernelPCA as KernelPCA
from .nmf import NMF as NMF
from .patches import denoise_image as denoise_image
from .patches import extract_patches as extract_patches
from .patches import inpaint_image as inpaint_image
from .patches import reconstruct_from_patches as reconstruct_from_patches
from .pca import PCA as PCA
from .ppca import ProbabilisticPCA as ProbabilisticPCA
from .rotations import rotate_components as rotate_components
from .scaling import MDS as MDS
from .singular import svd as svd
from .sparse_pca import SparsePCA as SparsePCA
from .subspaces import principal_angles as principal_angles
from .subspaces import project as project
from .subspaces import qr as qr
from .subspaces import top_eigenvectors as top_eigenvectors
from .truncated import TruncatedSVD as TruncatedSVD

__all__ = ["CCA", "ClassicalMDS", "FactorAnalysis", "FisherProjection", "IncrementalPCA", "KernelCCA", "KernelPCA", "MDS", "NMF", "PCA", "ProbabilisticPCA", "SparsePCA", "TruncatedSVD", "denoise_image", "extract_patches", "inpaint_image", "principal_angles", "project", "qr", "reconstruct_from_patches", "rotate_components", "svd", "top_eigenvectors"]
