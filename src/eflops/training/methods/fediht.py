"""Federated iterative hard thresholding (Tong et al., 2022, Fed-HT): the server keeps the top m after each round."""

from eflops.training.methods.dense import Weights


class Method(Weights):
    """Clients descend freely within a round; the server averages and cuts."""

    server_cuts = True
