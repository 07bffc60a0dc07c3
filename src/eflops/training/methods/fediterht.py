"""Federated iterative hard thresholding at the clients too (Tong et al., 2022, FedIter-HT)."""

from eflops.training.methods.dense import Weights


class Method(Weights):
    """Clients cut after every local step, so that their answers are sparse; the server cuts the average again."""

    server_cuts = True
    step_cuts = True
