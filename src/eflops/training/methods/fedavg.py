"""Dense federated averaging (McMahan et al., 2017), judged by its largest weights and cut after training."""

from eflops.training.methods.dense import Weights


class Method(Weights):
    """Nothing is cut before the finetuning phase."""
