"""E-FLoPS: federated averaging of weights under hard concrete gates, an L0 constraint and entropy regularisation.

At temperature T = 0 it is FLoPS. The symbols are the paper's: theta~ raw weights, z gates, phi gate parameters, lam
the multiplier of the constraint sum_j P(z_j != 0) <= rho |theta|.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eflops.config.settings import GatedSettings
from eflops.training.messages import Message, Part
from eflops.training.methods.base import STEPS, State, Task, Upload, Work, check_tensor, check_vectors
from eflops.training.methods.cut import Cut, CutSchedule
from eflops.training.methods.gated import EXACT, PAPER, RAW, Limits, add_answer, gated_update
from eflops.training.methods.settings import RunSettings
from eflops.training.models.base import in_python
from eflops.training.numerics import gates
from eflops.training.numerics.kernels import ln
from eflops.training.numerics.noise import address_of, normal
from eflops.training.numerics.selection import keep_marked

# Below this a mean gate is not divided by: theta~ would grow without bound while theta~ z stays as it is.
SMALLEST_GATE = 1e-6
# Small enough to leave the order of open gates alone, large enough to order the closed ones in float32.
TRACE = 1e-6
NO_PRIOR = np.empty((0, 0), np.float32)


class Method:
    """Clients descend on (theta~, phi) and ascend on lam; the server averages theta = theta~ z and z."""

    def __init__(self, task: Task, **options: Any) -> None:
        self.task, self.settings = task, task.settings
        self.schedule = CutSchedule(task.settings, task.gated, task.target)
        self.cut = Cut.of(task.layers, task.settings.layer_floor)
        # Where T does not decay, one array of numbers serves all rounds.
        self.steady = all(decay == 1 for decay in task.settings.values("temperature_decay"))
        self.raw_limits = {"theta": math.inf, "phi": task.settings.phi_limit}
        self.raw_drifting = "phi"
        self.limits = Limits(np.float32(task.settings.phi_limit), np.float32(task.target))

    def start(self, seeds: Sequence[int]) -> State:
        """The first weights, phi ~ N(logit rho_init, 0.1^2), lam = 0."""
        theta = self.task.first_weights(seeds)
        # The state holds mean gates and not phi, because that is what clients receive and the server averages.
        z = gates.mean_gate(self._first_phi(seeds, self.settings))
        if self.settings.rescale_start:
            theta[:, : self.task.gated] /= z
        return {"theta": theta, "gates": z, "multiplier": theta.new_zeros(len(seeds))}

    def download(self, state: State, round_: int) -> Message:
        """theta~, z and lam; once the server has cut them, those kept and the average of the other gates."""
        support, tail = state.get("support"), state.get("tail")
        return self._parts(state["theta"], state["gates"], state["multiplier"], support, tail)

    def update(self, received: Message, work: Work) -> Message:
        """Local steps on (theta~, phi) by the reparameterised gradient, on lam by ascent with restart."""
        theta, z, lam = received["theta"], received["gates"], received["multiplier"]
        self._steps(theta, z, lam, work, EXACT if work.settings.gate_recovery == "exact" else PAPER)
        return self._message(theta, z, lam, work.round, work.settings.sparse_upload)

    def upload_entries(self, round_: int) -> int | None:
        """The number of gated entries in a client's answer of a round; None: all."""
        return self.schedule.keep(round_) if self.settings.sparse_upload else None

    def aggregate(self, state: State, uploads: Sequence[Upload], round_: int) -> State:
        """theta = sum w_k theta~_k z_k and z = sum w_k z_k, then theta~ = theta / z; lam may restart."""
        theta, z, lam = (torch.zeros_like(state[name]) for name in ("theta", "gates", "multiplier"))
        check_vectors(self, {"theta": theta, "gates": z}, len(lam), "of the server's state")
        sums = theta.numpy(), z.numpy(), lam.numpy()
        for upload in uploads:
            sent = upload.message
            answer = upload.runs, upload.weights, sent["theta"], sent["gates"], sent["multiplier"]
            add_answer(sums, *(part.numpy() for part in answer))
        # At the server too, because the average of gates may satisfy the constraint where no single client's did.
        excess = gates.expected_active(self._recover(z)) - self.task.target
        lam = torch.where(excess <= 0, torch.zeros_like(lam), lam)
        theta[:, : self.task.gated] /= z.clamp(min=SMALLEST_GATE)
        sent = self._message(theta, z, lam, round_, True)
        parts = {
            "theta": sent["theta"],
            "gates": sent["gates"],
            "multiplier": lam,
            "support": sent.support,
            "tail": sent.parts["gates"].common,
        }
        return {name: part for name, part in parts.items() if part is not None}

    def effective(self, state: State) -> Tensor:
        """theta~ times the noise-free gate; a closed gate leaves a trace of its mean.

        Where fewer than m gates are open, the trace fills the m weights up by |theta~ z|, as the server's cut ranks
        them; without it all weights behind closed gates would be equal, and their order would say which are kept.
        """
        return self._evaluated(state["theta"], self._recover(state["gates"]), state["gates"])

    def watched(self, state: State) -> dict[str, Tensor]:
        """The curves of the gates: the expected number of open ones, lam, and `gates.mean_entropy`."""
        return self.raw_watched({"phi": self._recover(state["gates"])}, state)

    def raw_start(self, seeds: Sequence[int]) -> tuple[State, State]:
        """The vectors and scalars whose changes `feedback` exchanges: theta~ and phi, and lam."""
        first = self.start(seeds)
        # Held within the limit, as clients hold it after every step.
        phi = self._first_phi(seeds, self.settings).clamp(-self.settings.phi_limit, self.settings.phi_limit)
        return {"theta": first["theta"], "phi": phi}, {"multiplier": first["multiplier"]}

    def raw_steps(self, vectors: State, scalars: State, work: Work) -> None:
        """Local steps on (theta~, phi) and lam, in place."""
        self._steps(vectors["theta"], vectors["phi"], scalars["multiplier"], work, RAW)

    def raw_scalars(self, view: State, scalars: State) -> State:
        """lam, which restarts at 0 if the constraint holds for the view's gates."""
        lam, excess = scalars["multiplier"], gates.expected_active(view["phi"]) - self.task.target
        return {"multiplier": torch.where(excess <= 0, torch.zeros_like(lam), lam)}

    def raw_effective(self, vectors: State) -> Tensor:
        """`effective` of theta~ and phi."""
        return self._evaluated(vectors["theta"], vectors["phi"], gates.mean_gate(vectors["phi"]))

    def raw_watched(self, vectors: State, scalars: State) -> dict[str, Tensor]:
        """`watched` of phi and lam."""
        return {
            "open_gates": gates.expected_active(vectors["phi"]),
            "multiplier": scalars["multiplier"].clone(),
            "gate_entropy": gates.mean_entropy(vectors["phi"]),
        }

    def _evaluated(self, theta: Tensor, phi: Tensor, z: Tensor) -> Tensor:
        open_gate = gates.deterministic(phi, self.settings.gate)
        return self._gate(theta, torch.maximum(open_gate, z * TRACE))

    def _steps(self, theta: Tensor, z: Tensor, lam: Tensor, work: Work, rule: int) -> None:
        """Local steps in place; z holds mean gates, or phi by the rule RAW."""
        settings, first_prior = work.settings, work.settings.prior == "init"
        check_vectors(self, {"theta": theta, "gates": z}, len(work.seeds), STEPS)
        check_tensor(self, lam, (len(work.seeds),), f"'multiplier' {STEPS}")
        rows = work.data.arrays
        in_python(gated_update, rows)(
            rows,
            theta.numpy(),
            z.numpy(),
            lam.numpy(),
            self._numbers(settings, work.round),
            self._first_phi(work.seeds, settings).numpy() if first_prior else NO_PRIOR,
            self.limits,
            rule,
            work.batches,
            (address_of("gates", (work.round, work.client)), np.asarray(work.seeds, np.uint64)),
            settings.samples,
        )

    def _message(self, theta: Tensor, z: Tensor, lam: Tensor, round_: int, cut: bool) -> Message:
        """The top m of |theta~ z| with their gates; the other weights become 0, their gates their average, in place."""
        keep = self.schedule.keep(round_) if cut else None
        if keep is None:
            return self._parts(theta, z, lam, None, None)
        support, tail = self.cut.top(self._gate(theta, z), keep), torch.empty_like(lam)
        keep_marked(theta.numpy(), z.numpy(), support.numpy(), tail.numpy())
        return self._parts(theta, z, lam, support, tail)

    def _parts(self, theta: Tensor, z: Tensor, lam: Tensor, support: Tensor | None, tail: Tensor | None) -> Message:
        parts = {"theta": Part(theta, support), "gates": Part(z, support, tail)}
        return Message(parts, {"multiplier": lam}, ungated=self.task.ungated)

    def _gate(self, theta: Tensor, z: Tensor) -> Tensor:
        """theta~ z; ungated parameters have none."""
        if not self.task.ungated:
            return theta * z
        return torch.cat([theta[:, : self.task.gated] * z, theta[:, self.task.gated :]], 1)

    def _recover(self, z: Tensor) -> Tensor:
        # The limit is where a mean gate in float32 still determines phi.
        return gates.recover(z, self.settings.gate_recovery, self.settings.phi_limit)

    def _first_phi(self, seeds: Sequence[int], settings: RunSettings) -> Tensor:
        spread = [0.1 * normal(seed, "first gates", self.task.gated) for seed in seeds]
        return torch.stack([centre + part for centre, part in zip(settings.each(_centre), spread, strict=True)])

    def _numbers(self, settings: RunSettings, round_: int) -> np.ndarray:
        """The runs' numbers in the layout of `gated`, with T of this round.

        Every client can compute phi_init, so it is never sent. If it is one number for all gates, the entropy's
        gradient is a polynomial.
        """

        def of_run(run: GatedSettings) -> list[float]:
            # Python's ** calls the C library's pow, whose last bit differs between machines.
            temperature = run.temperature * _power(run.temperature_decay, round_)
            # Zeros for the prior "init": there each gate has its own phi_init, and one polynomial cannot serve all.
            entropy = temperature * gates.entropy_polynomials(_centre(run)) * (run.prior == "mean")
            clip = np.inf if run.clip is None else run.clip
            # The setting is in units of 1/|theta|, because the excess counts gates and grows with the model.
            rates = run.rate, run.gate_rate, run.multiplier_rate / self.task.gated
            return [*rates, clip, temperature, *entropy.flat]

        return settings.array(("gated", None if self.steady else round_), of_run)


def _centre(run: GatedSettings) -> float:
    """logit(rho_init)."""
    return ln(run.rho_init / (1 - run.rho_init))


def _power(base: float, exponent: int) -> float:
    """base^exponent by multiplications only, whose rounding is the same on every processor."""
    result = 1.0
    while exponent:
        result = result * base if exponent & 1 else result
        base, exponent = base * base, exponent >> 1
    return result
