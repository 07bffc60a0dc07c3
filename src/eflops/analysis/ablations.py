"""Which settings of E-FLoPS are varied one at a time."""

from eflops.analysis.ablation import Ablation

RECOVERY = Ablation("ablation_recovery", "set_gate_recovery", "gate recovery")
PRUNE = Ablation("ablation_prune", "set_prune_from", "prune start (share of rounds)")
GATE = Ablation("ablation_gate", "set_gate", "noise-free gate")
STEPS = Ablation("ablation_steps", "set_local_steps", "local steps")
LITERAL = Ablation(
    "ablation_literal",
    "variant",
    "choices",
    {"chosen": "ours", "literal": "paper's", "literal_own_rates": "paper's,\nour rates"},
)
