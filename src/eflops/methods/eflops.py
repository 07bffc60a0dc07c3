"""E-FLoPS: federated averaging of weights under hard concrete gates, an L0 constraint and entropy regularisation.

At temperature T = 0 it is FLoPS. The symbols are the paper's: theta~ raw weights, z gates, phi gate parameters, lam
the multiplier of the constraint sum_j P(z_j != 0) <= rho |theta|.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from eflops import gates
from eflops.methods.base import Payload, State, Task, Upload, Work, average, chosen_rows, clipped
from eflops.methods.cut import CutSchedule, top
from eflops.methods.settings import RunSettings, column, scaled
from eflops.noise import normal, uniform

SMALLEST_GATE = 1e-6


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
        settings, limit = work.settings, work.settings.phi_limit
        theta, lam = received.values.clone(), _present(received.multiplier).clone()
        phi = self._recover(_present(received.gates))
        temperatures = _temperatures(settings, work.round)
        temperature = column(temperatures)
        entropy_slope = gates.KlGradient(self._prior(work, theta)) if max(temperatures) > 0 else None
        count = work.batches.steps * settings.samples
        noise = uniform(work.seeds, "gates", (work.round, work.client), count, theta.shape[1])
        for step in range(work.batches.steps):
            draws = noise[step * settings.samples : (step + 1) * settings.samples]
            theta_slope, phi_slope = self._slopes(theta, phi, draws, work, step)
            active, active_slope = gates.active_with_slope(phi)
            phi_slope.addcmul_(active_slope, lam[:, None])
            if entropy_slope is not None:
                phi_slope.add_(scaled(entropy_slope(phi), temperature))
            theta.sub_(scaled(theta_slope, settings.rate))
            phi.sub_(scaled(phi_slope, settings.gate_rate)).clamp_(-limit, limit)
            lam = self._ascend(lam, active, settings)
        return self._message(theta, gates.mean_gate(phi), lam, work.round, settings.sparse_upload)

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
        """theta~ times the noise-free gate."""
        return state["theta"] * gates.deterministic(self._recover(state["gates"]), self.settings.gate)

    def _slopes(self, theta: Tensor, phi: Tensor, draws: Tensor, work: Work, step: int) -> tuple[Tensor, Tensor]:
        """The gradient of the loss by (theta~, phi), the mean over R samples of the gates."""
        sums: tuple[Tensor, Tensor] | None = None
        for draw in draws:
            z, z_slope = gates.sample_with_slope(phi, gates.logistic_noise(draw))
            slope = self.task.model.gradient(theta * z, work.data, chosen_rows(work.batches, step))
            slope = clipped(slope, work.settings.clip)
            parts = z.mul_(slope), z_slope.mul_(slope).mul_(theta)
            sums = parts if sums is None else (sums[0].add_(parts[0]), sums[1].add_(parts[1]))
        assert sums is not None
        return sums if len(draws) == 1 else (sums[0].div_(len(draws)), sums[1].div_(len(draws)))

    def _message(self, theta: Tensor, z: Tensor, lam: Tensor, round_: int, cut: bool) -> Payload:
        """The top m of |theta~ z| with their gates; the other weights are dropped, their gates become their average."""
        keep = self.schedule.keep(round_) if cut else None
        if keep is None:
            return Payload(theta, None, z, None, lam)
        size = self.task.size
        support = top((theta * z).abs(), keep, self.task.layers, self.settings.layer_floor)
        rest = (z * ~support)[:, :size].sum(1)
        tail = rest / max(1, size - keep)
        return Payload(theta * support, support, torch.where(support, z, tail[:, None]), tail, lam)

    def _recover(self, z: Tensor) -> Tensor:
        limit = self.settings.phi_limit
        return gates.recover(z, self.settings.gate_recovery).clamp_(-limit, limit)

    def _constraint(self, active: Tensor) -> Tensor:
        """sum_j P(z_j != 0) - rho |theta|, [runs]."""
        return active[:, : self.task.size].sum(1) - self.task.target

    def _ascend(self, lam: Tensor, active: Tensor, settings: RunSettings) -> Tensor:
        excess = self._constraint(active)
        step = scaled(excess[:, None].clone(), settings.multiplier_rate / self.task.size)
        raised = lam + step[:, 0]
        return torch.where(excess <= 0, torch.zeros_like(lam), raised)

    def _restart(self, lam: Tensor, active: Tensor) -> Tensor:
        return torch.where(self._constraint(active) <= 0, torch.zeros_like(lam), lam)

    def _first_phi(self, seeds: Sequence[int], settings: RunSettings, width: int) -> Tensor:
        spread = [0.1 * normal(seed, "first gates", width) for seed in seeds]
        return torch.stack([centre + part for centre, part in zip(_centres(settings), spread, strict=True)])

    def _prior(self, work: Work, like: Tensor) -> Tensor:
        """phi_init of the prior; every client can make it by itself, so that it is never sent."""
        if work.settings.prior == "init":
            return self._first_phi(work.seeds, work.settings, like.shape[1])
        return torch.as_tensor(column(_centres(work.settings)), dtype=like.dtype)


def _centres(settings: RunSettings) -> list[float]:
    """logit(rho_init) of each run."""
    return [math.log(rho) - math.log1p(-rho) for rho in settings.values("rho_init")]


def _temperatures(settings: RunSettings, round_: int) -> list[float]:
    """T of each run in a round."""
    both = zip(settings.values("temperature"), settings.values("temperature_decay"), strict=True)
    return [temperature * decay**round_ for temperature, decay in both]


def _present(part: Tensor | None) -> Tensor:
    assert part is not None
    return part
