"""E-FLoPS: federated averaging of weights under hard concrete gates, an L0 constraint and entropy regularisation.

At temperature T = 0 it is FLoPS. The symbols are the paper's: theta~ raw weights, z gates, phi gate parameters, lam
the multiplier of the constraint sum_j P(z_j != 0) <= rho |theta|.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from eflops import gates
from eflops.config.settings import GatedSettings
from eflops.fused import keep_marked
from eflops.methods.base import Payload, State, Task, Upload, Work, average, chosen_rows, clipped
from eflops.methods.cut import CutSchedule, top
from eflops.methods.gated import GatedSteps
from eflops.methods.settings import RunSettings
from eflops.noise import normal, uniform

SMALLEST_GATE = 1e-6
TRACE = 1e-6


class Method:
    """Clients descend on (theta~, phi) and ascend on lam; the server averages theta = theta~ z and z."""

    def __init__(self, task: Task, **options: Any) -> None:
        self.task, self.settings = task, task.settings
        self.schedule = CutSchedule(task.settings, task.size, task.target)

    def start(self, seeds: Sequence[int]) -> State:
        """Weights as the model starts, phi ~ N(logit rho_init, 0.1^2), lam = 0."""
        theta = torch.stack([self.task.model.initial(seed) for seed in seeds])
        phi = self._first_phi(seeds, self.settings, theta.shape[1])
        z = gates.mean_gate(phi)
        if self.settings.rescale_start:
            theta = theta / z
        return {"theta": theta, "gates": z, "multiplier": theta.new_zeros(len(seeds))}

    def download(self, state: State, round_: int) -> Payload:
        """theta~, z and lam; once the server has cut them, those kept and the average of the other gates."""
        return Payload(state["theta"], state.get("support"), state["gates"], state.get("tail"), state["multiplier"])

    def update(self, received: Payload, work: Work) -> Payload:
        """Local steps on (theta~, phi) by the reparameterised gradient, on lam by ascent with restart."""
        settings, rows, samples = work.settings, work.batches, work.settings.samples
        values, lam = received.values.clone(), _present(received.multiplier).clone()
        local = GatedSteps(values, self._recover(_present(received.gates)), lam, self.task, settings)
        polynomials, entropy_slope = self._entropy(work, values)
        noise = uniform(work.seeds, "gates", (work.round, work.client), rows.steps * samples, values.shape[1])
        draws = gates.logistic_noise(noise).numpy()
        for step in range(rows.steps):
            slopes = []
            for sample in range(samples):
                weights = local.open(sample, draws[step * samples + sample])
                slope = self.task.model.gradient(weights, work.data, chosen_rows(rows, step))
                slopes.append(clipped(slope, settings.clip))
            local.step(slopes, polynomials, None if entropy_slope is None else entropy_slope(local.phi))
        return self._message(local.theta, gates.mean_gate(local.phi), local.lam, work.round, settings.sparse_upload)

    def aggregate(self, state: State, uploads: Sequence[Upload], round_: int) -> State:
        """theta = sum w_k theta~_k z_k and z = sum w_k z_k, then theta~ = theta / z; lam may restart."""
        z = average(uploads, lambda payload: _present(payload.gates), state["gates"])
        theta = average(uploads, lambda payload: payload.values * _present(payload.gates), state["theta"])
        lam = average(uploads, lambda payload: _present(payload.multiplier), state["multiplier"])
        lam = self._restart(lam, gates.active_probability(self._recover(z)))
        sent = self._message(theta / z.clamp(min=SMALLEST_GATE), z, lam, round_, True)
        parts = {
            "theta": sent.values,
            "gates": sent.gates,
            "multiplier": lam,
            "support": sent.support,
            "tail": sent.tail,
        }
        return {name: part for name, part in parts.items() if part is not None}

    def effective(self, state: State) -> Tensor:
        """theta~ times the noise-free gate; a closed gate leaves a trace of its mean.

        Where fewer than m gates are open, the trace fills the m weights up by |theta~ z|, as the server's cut ranks
        them; without it all weights behind closed gates would be equal, and their order would say which are kept.
        """
        z = state["gates"]
        open_gate = gates.deterministic(self._recover(z), self.settings.gate)
        return state["theta"] * torch.maximum(open_gate, z * TRACE)

    def _message(self, theta: Tensor, z: Tensor, lam: Tensor, round_: int, cut: bool) -> Payload:
        """The top m of |theta~ z| with their gates; the other weights become 0, their gates their average, in place."""
        keep = self.schedule.keep(round_) if cut else None
        if keep is None:
            return Payload(theta, None, z, None, lam)
        support = top((theta * z).abs_(), keep, self.task.layers, self.settings.layer_floor)
        tail = torch.empty_like(lam)
        keep_marked(theta.numpy(), z.numpy(), support.numpy(), self.task.size, tail.numpy())
        return Payload(theta, support, z, tail, lam)

    def _recover(self, z: Tensor) -> Tensor:
        limit = self.settings.phi_limit
        return gates.recover(z, self.settings.gate_recovery).clamp_(-limit, limit)

    def _constraint(self, active: Tensor) -> Tensor:
        """sum_j P(z_j != 0) - rho |theta|, [runs]."""
        return active[:, : self.task.size].sum(1) - self.task.target

    def _restart(self, lam: Tensor, active: Tensor) -> Tensor:
        return torch.where(self._constraint(active) <= 0, torch.zeros_like(lam), lam)

    def _first_phi(self, seeds: Sequence[int], settings: RunSettings, width: int) -> Tensor:
        spread = [0.1 * normal(seed, "first gates", width) for seed in seeds]
        return torch.stack([centre + part for centre, part in zip(settings.each(_centre), spread, strict=True)])

    def _entropy(self, work: Work, like: Tensor) -> tuple[np.ndarray, Callable[[Tensor], Tensor] | None]:
        """T times the slope of the KL to the prior: as polynomials where phi_init is one number, else as a function.

        Every client can make phi_init by itself, so that it is never sent.
        """
        settings = work.settings
        if settings.prior == "init" and any(settings.values("temperature")):
            slope = gates.KlGradient(self._first_phi(work.seeds, settings, like.shape[1]))
            temperatures = settings.each(lambda run: _temperature(run, work.round))
            weight = torch.tensor(temperatures, dtype=like.dtype)[:, None]
            return np.zeros((len(like), 2, 8), np.float32), lambda phi: slope(phi).mul_(weight)
        polynomials = settings.each(
            lambda run: (_temperature(run, work.round) * gates.entropy_polynomials(_centre(run))).astype(np.float32)
        )
        return np.array(polynomials), None


def _centre(run: GatedSettings) -> float:
    """logit(rho_init)."""
    return math.log(run.rho_init) - math.log1p(-run.rho_init)


def _temperature(run: GatedSettings, round_: int) -> float:
    """T in a round."""
    return run.temperature * run.temperature_decay**round_


def _present(part: Tensor | None) -> Tensor:
    assert part is not None
    return part
