# Written by scripts/stubs from the package's `attach` call; do not edit.
from .choose import choose_k as choose_k
from .costs import distortion as distortion
from .costs import voronoi_cells as voronoi_cells
from .cuts import balanced_min_cut as balanced_min_cut
from .cuts import min_cut as min_cut
from .features import ClusterFeatures as ClusterFeatures
from .graphs import affinity as affinity
from .graphs import fiedler_vector as fiedler_vector
from .graphs import graph_cut as graph_cut
from .graphs import laplacian as laplacian
from .hierarchy import AgglomerativeClustering as AgglomerativeClustering
from .kernel import KernelKMeans as KernelKMeans
from .kmeans import KMeans as KMeans
from .kmedoids import KMedoids as KMedoids
from .linkages import cophenetic_distances as cophenetic_distances
from .linkages import cut_tree as cut_tree
from .linkages import linkage as linkage
from .minibatch import MiniBatchKMeans as MiniBatchKMeans
from .partitions import check_partition as check_partition
from .partitions import partition_matrix as partition_matrix
from .partitions import permanent as permanent
from .partitions import sinkhorn as sinkhorn
from .partitions import trace_objective as trace_objective
from .quantize import CodewordHistogram as CodewordHistogram
from .quantize import VectorQuantizer as VectorQuantizer
from .representatives import KMedians as KMedians
from .representatives import KRepresentatives as KRepresentatives
from .soft import SoftKMeans as SoftKMeans
from .spectral import SpectralClustering as SpectralClustering
from .spectral import spectral_embedding as spectral_embedding
from .starts import farthest_first as farthest_first
from .starts import kmeans_plusplus as kmeans_plusplus

__all__ = ["AgglomerativeClustering", "ClusterFeatures", "CodewordHistogram", "KMeans", "KMedians", "KMedoids", "KRepresentatives", "KernelKMeans", "MiniBatchKMeans", "SoftKMeans", "SpectralClustering", "VectorQuantizer", "affinity", "balanced_min_cut", "check_partition", "choose_k", "cophenetic_distances", "cut_tree", "distortion", "farthest_first", "fiedler_vector", "graph_cut", "kmeans_plusplus", "laplacian", "linkage", "min_cut", "partition_matrix", "permanent", "sinkhorn", "spectral_embedding", "trace_objective", "voronoi_cells"]
