"""The formula of a model as MathML, which browsers draw without a script."""

from __future__ import annotations

import html
import inspect
import re
from functools import cache

# Models whose docstring says in words what they compute.
OWN = {
    "AgglomerativeClustering": r"(A, B) = \arg\min_{A \ne B} d(A, B), \qquad A \leftarrow A \cup B",
    "BasisExpansion": r"x \mapsto (\phi_1(x), \dots, \phi_m(x))",
    "BayesianPersonalizedRanking": r"\max_\theta \sum_{(u, i, j)} \ln \sigma(s_{ui} - s_{uj}) - \lambda \|\theta\|^2",
    "CalibratedClassifier": r"p(y = 1 \mid x) = g(f(x))",
    "CascadeClassifier": r"h(x) = \prod_k 1\{f_k(x) \ge \theta_k\}",
    "ClusterFeatures": r"x \mapsto (\|x - \mu_1\|, \dots, \|x - \mu_K\|)",
    "CodewordHistogram": r"h_k = \frac{1}{T} \sum_t 1\{c(x_t) = k\}",
    "ConformalClassifier": r"C(x) = \{ y : s(x, y) \le q_{1 - \alpha} \}",
    "ConjunctionLearner": r"h(x) = \bigwedge_{j \in J} x_j",
    "ConvNetClassifier": r"a_{kij} = \phi\left(b_k + \sum_{c, u, v} w_{kcuv} x_{c, i + u, j + v}\right)",
    "ConvNetRegressor": r"a_{kij} = \phi\left(b_k + \sum_{c, u, v} w_{kcuv} x_{c, i + u, j + v}\right)",
    "ExactSearch": r"G = \arg\max_G \sum_j s(x_j \mid \mathrm{pa}_G(j))",
    "HillClimbSearch": r"G \leftarrow \arg\max_{G' \in N(G)} \sum_j s(x_j \mid \mathrm{pa}_{G'}(j))",
    "IncrementalPCA": r"X \approx \mathbf{1} \mu^\top + Z V^\top, \qquad V^\top V = I",
    "ItemItemRecommender": r"s_{ui} = \sum_{j \in N(u)} w_{ij}",
    "KMedians": r"\min_{c, m} \sum_i w_i \|x_i - m_{c_i}\|_1",
    "KRepresentatives": r"\min_{c, m} \sum_i w_i d(x_i, m_{c_i})",
    "KernelExpansion": r"x \mapsto (k(x, z_1), \dots, k(x, z_m))",
    "MiniBatchKMeans": r"\mu_c \leftarrow \mu_c + \frac{1}{n_c} (x - \mu_c), \qquad c = \arg\min_k \|x - \mu_k\|^2",
    "MinimumRiskClassifier": r"a(x) = \arg\min_a \sum_y L(a, y) p(y \mid x)",
    "NetworkEnsemble": r"p(y \mid x) = \frac{1}{M} \sum_m p_m(y \mid x)",
    "NeuralTuringMachine": r"r_t = w_t^\top M_t, \qquad M_{t+1} = M_t \odot (1 - w_t e_t^\top) + w_t a_t^\top",
    "Nystroem": r"K \approx K_{nm} K_{mm}^{+} K_{nm}^\top",
    "OptimisticPlanning": r"\pi = \arg\max_\pi \max_{P \in \mathcal{P}_n} V^{\pi, P}",
    "PC": r"i - j \iff x_i \not\perp x_j \mid x_S \quad \forall S",
    "ParticleFilter": r"p(z_t \mid x_{1:t}) \approx \sum_i w_i \delta(z_t - z_i), \qquad w_i \propto p(x_t \mid z_i)",
    "PassiveAggressiveRegressor": r"w \leftarrow \arg\min_v \frac{1}{2} \|v - w\|^2 + C \ell_\varepsilon(v; x, y)",
    "PivotedMap": r"x \mapsto L^{-1} k(Z, x), \qquad K_{ZZ} = L L^\top",
    "PolynomialFeatures": r"x \mapsto \left(x_1^{a_1} \cdots x_d^{a_d}\right)_{|a| \le m}",
    "PopularityRecommender": r"s_{ui} = \sum_{v} 1\{v \text{ has } i\}",
    "RBFSampler": r"k(x, z) \approx \phi(x)^\top \phi(z), \qquad \phi_j(x) = \sqrt{2 / m} \cos(w_j^\top x + b_j)",
    "RectangleLearner": r"h(x) = 1\{a_j \le x_j \le b_j \ \forall j\}",
    "RecurrentClassifier": r"h_t = \phi(W x_t + U h_{t-1} + b), \qquad p(y) = \mathrm{softmax}(V h_T)",
    "RecurrentLanguageModel": r"h_t = \phi(W x_t + U h_{t-1} + b), \qquad p(x_{t+1}) = \mathrm{softmax}(V h_t)",
    "RecurrentRegressor": r"h_t = \phi(W x_t + U h_{t-1} + b), \qquad y = v^\top h_T",
    "SpectralClustering": r"\min_{U^\top U = I} \mathrm{tr}(U^\top L U), \qquad L = I - D^{-1/2} A D^{-1/2}",
    "TokenClassifier": r"h_t = \phi(W x_t + U h_{t-1} + b), \qquad p(y_t) = \mathrm{softmax}(V h_t)",
    "TransactionEncoder": r"x_{ij} = 1\{\text{item } j \in \text{basket } i\}",
    "VectorQuantizer": r"c(x) = \arg\min_k \|x - \mu_k\|^2",
    "WordRecognizer": r"w = \arg\max_w p(x_{1:T} \mid w) p(w)",
}


@cache
def formula_of(cls: type) -> str:
    """Return the first formula of a class's docstring as MathML; as code where it cannot be converted."""
    from gnomon.report.card import formula

    if cls.__name__ in OWN:
        return mathml(OWN[cls.__name__])
    for base in inspect.getmro(cls):
        latex = formula(base)
        if latex:
            return mathml(latex)
    return ""


def mathml(latex: str) -> str:
    """Return a formula as MathML."""
    try:
        from latex2mathml.converter import convert

        return str(convert(_known(latex), display="block"))
    except Exception:
        return f"<code>{html.escape(latex)}</code>"


def _known(latex: str) -> str:
    """Write what the converter does not know in terms that it knows."""
    latex = re.sub(r"\\operatorname\*?\{([^}]*)\}", r"\\mathrm{\1}", latex.strip())
    latex = re.sub(r"\\arg\s*\\(max|min)\b", r"\\mathrm{arg\1}", latex)
    latex = re.sub(r"\\arg\b", r"\\mathrm{arg}", latex)
    latex = re.sub(r"\\(lVert|rVert)\b", r"\\|", latex)
    return re.sub(r"\\(lvert|rvert)\b", "|", latex)
