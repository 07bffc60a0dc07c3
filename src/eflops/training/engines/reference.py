"""The algorithm in plain torch: one run, one client after the other, every gradient by autograd.

Read this file first: it has the algorithm in the paper's symbols, tests compare it with the fast engine, and a custom
method can start from it. Clients, mini-batches and noise have addresses (seed, round, client), so a run here equals the
run of the batched engine up to rounding. `single.py` has the data and the model as torch objects, and makes records of
the rounds.

    theta  raw weights (theta~ in the paper); the model uses theta z
    phi    gate parameters, log alpha
    z      gates: drawn in a local step, their means in messages
    lam    multiplier of the constraint
"""

import math
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import logsigmoid, softshrink

from eflops.config.settings import GatedSettings
from eflops.data.job import Job
from eflops.training.engines import single
from eflops.training.engines.single import Problem, Round, State
from eflops.training.messages import Message, Part
from eflops.training.rounds import Connect

GAMMA, ZETA, BETA = -0.1, 1.1, 0.66
# A gate is a function of x = phi + logistic noise: 0 up to LOW, 1 from HIGH on, smooth in between.
LOW, HIGH = (BETA * math.log((edge - GAMMA) / (ZETA - edge)) for edge in (0, 1))
# In float64 and with many nodes, so that the reference's own error is far below that of float32.
NODES, HEIGHTS = (torch.from_numpy(part) for part in np.polynomial.legendre.leggauss(32))
X, DX = LOW + (HIGH - LOW) / 2 * (1 + NODES[:, None]), (HIGH - LOW) / 2 * HEIGHTS
SMALL = 1e-6


def gate(x: Tensor) -> Tensor:
    """z = min(1, max(0, s (zeta - gamma) + gamma)) with s = sigmoid(x / beta)."""
    return (torch.sigmoid(x / BETA) * (ZETA - GAMMA) + GAMMA).clamp(0, 1)


def active(phi: Tensor) -> Tensor:
    """P(z != 0)."""
    return torch.sigmoid(phi - BETA * math.log(-GAMMA / ZETA))


def mean_gate(phi: Tensor) -> Tensor:
    """E[z] = P(z = 1) + int z(x) q(x) dx over [LOW, HIGH], q the logistic density around phi."""
    between = DX @ (gate(X) * torch.sigmoid(X - phi) * torch.sigmoid(phi - X))
    return (torch.sigmoid(phi - HIGH) + between).to(phi.dtype)


def recover(z: Tensor, settings: GatedSettings) -> Tensor:
    """phi from mean gates: beta logit z as the paper prints it, or "exact", the inverse of `mean_gate` by a table."""
    # In float64, because 1 - z loses the digits of a gate that is nearly open.
    logit = torch.logit(z.double(), SMALL)
    # By a table instead of the engine's polynomial, so that the two check each other.
    exact = settings.gate_recovery == "exact"
    phi = torch.from_numpy(np.interp(logit, *table_of_means())) if exact else BETA * logit
    return phi.to(z.dtype).clamp(-settings.phi_limit, settings.phi_limit)


@cache
def table_of_means() -> tuple[Tensor, Tensor]:
    """logit E[z] and phi on a grid so fine that linear interpolation is as accurate as float32."""
    phi = torch.linspace(-16, 16, 16001, dtype=torch.float64)
    return torch.logit(mean_gate(phi)), phi


def kl(phi: Tensor, prior: Tensor) -> Tensor:
    """KL(q || p) of gates at phi and at the prior: the masses at z = 0 and at z = 1, and the density in between."""
    closed = torch.sigmoid(LOW - phi) * (logsigmoid(LOW - phi) - logsigmoid(LOW - prior))
    opened = torch.sigmoid(phi - HIGH) * (logsigmoid(phi - HIGH) - logsigmoid(prior - HIGH))
    # The logarithm of the density directly: the density itself may underflow where its logarithm is moderate.
    log_q, log_p = (X - centre + 2 * logsigmoid(centre - X) for centre in (phi, prior))
    return closed + opened + DX @ (log_q.exp() * (log_q - log_p))


def eflops(run: Problem) -> Iterator[Round]:
    """E-FLoPS, and at T = 0 FLoPS: the server averages theta z and z, divides one by the other, and cuts."""
    z = mean_gate(first_phi(run))
    theta = run.first_weights / run.with_ones(z) if run.settings.rescale_start else run.first_weights
    state = State(theta, z, torch.zeros(()))
    for round_ in range(run.settings.rounds):
        answers = [(w, gated_client(run, state, client, round_)) for client, w in run.selected_in(round_)]
        weights = sum(w * answer.theta * run.with_ones(answer.z) for w, answer in answers)
        z = sum(w * answer.z for w, answer in answers)
        lam = sum(w * answer.lam for w, answer in answers)
        # At the server too: averaged gates may satisfy the constraint where no client's did.
        constraint = open_weights(run, recover(z, run.settings)) - run.target
        # Clients averaged theta z and z, so theta is their quotient; the clamp avoids a division by a closed gate's 0.
        theta = weights / run.with_ones(z.clamp(SMALL))
        state, down = gated_message(run, theta, z, lam * (constraint > 0), kept(run, round_)), state
        phi = recover(state.z, run.settings)
        weights = noise_free(run, state.theta, phi, state.z)
        # One answer is enough for counting bytes, because all answers of a round have the same size.
        yield Round("training", round_, down, answers[0][1], state, weights, watched(run, phi, state.lam))


def open_weights(run: Problem, phi: Tensor) -> Tensor:
    """The expected number of weights with an open gate: sum_g P(z_g != 0) size_g; without shared gates every size is
    1."""
    return (active(phi) * run.group_sizes).sum()


def gated_client(run: Problem, received: State, client: int, round_: int) -> State:
    """Local steps from the mean gates received to the mean gates sent."""
    settings = run.settings
    theta, phi, lam = gated_steps(run, received.theta, recover(received.z, settings), received.lam, client, round_)
    keep = kept(run, round_) if settings.sparse_upload else None
    return gated_message(run, theta, mean_gate(phi), lam, keep)


def gated_steps(run: Problem, theta: Tensor, phi: Tensor, lam: Tensor, client: int, round_: int) -> list[Tensor]:
    """Local steps on loss + lam constraint + T KL: descent on theta and phi, ascent on lam."""
    settings, theta, phi, lam = run.settings, theta.clone(), phi.clone(), lam.clone()
    prior = first_phi(run) if settings.prior == "init" else torch.logit(torch.tensor(settings.rho_init))
    temperature = settings.temperature * settings.temperature_decay**round_
    optimizer = torch.optim.SGD([
        {"params": [theta.requires_grad_()], "lr": settings.rate},
        {"params": [phi.requires_grad_()], "lr": settings.gate_rate},
        {"params": [lam.requires_grad_()], "lr": settings.multiplier_rate / run.gated, "maximize": True},
    ])  # fmt: skip
    phi.register_hook(lambda gradient: gradient / run.group_sizes)  # weights that share a gate move it by their mean
    # By address, and one draw after the other: the batched engine asks for the same numbers by their turn.
    noise = run.gate_noise(client, round_)
    for mean_loss in run.losses(client, round_, settings.local_steps):
        loss = torch.zeros(())
        for _ in range(settings.samples):
            weights = theta * run.with_ones(gate(phi + next(noise)))
            clip_gradient(weights, settings.clip, settings.samples)
            loss = loss + mean_loss(weights) / settings.samples
        constraint = open_weights(run, phi) - run.target
        objective = loss + lam * constraint + temperature * (run.group_sizes * kl(phi, prior)).sum()
        optimizer.zero_grad()
        objective.backward()
        optimizer.step()
        # Held where the mean gate of a message, in float32, still determines phi.
        phi.data.clamp_(-settings.phi_limit, settings.phi_limit)
        lam.data.mul_(constraint > 0)  # the multiplier starts again at 0 where the constraint holds
    return [theta.detach(), phi.detach(), lam.detach()]


def gated_message(run: Problem, theta: Tensor, z: Tensor, lam: Tensor, keep: int | None) -> State:
    """The largest |theta z| with their gates; the other weights are 0, and their gates their average, the tail."""
    if keep is None:
        return State(theta, z, lam)
    # By what the model uses: a large raw weight behind a nearly closed gate contributes little.
    support = top(run, (theta * run.with_ones(z)).abs(), keep)
    shared = None if run.groups is None else support[run.groups.first]
    opened = support[: run.gated] if shared is None else shared
    # One number stands for all unsent gates: with 0 instead, recovery would give all of them the smallest phi.
    return State(theta * support, torch.where(opened, z, z[~opened].mean()), lam, support, shared)


def noise_free(run: Problem, theta: Tensor, phi: Tensor, z: Tensor) -> Tensor:
    """theta times the noise-free gate; if that is 0, a tiny multiple of the mean gate still ranks the weights."""
    # `gate` divides by beta, so BETA * phi is the variant that leaves beta out.
    opened = gate(phi if run.settings.gate == "median" else BETA * phi)
    return theta * run.with_ones(torch.maximum(opened, SMALL * z))


def watched(run: Problem, phi: Tensor, lam: Tensor) -> dict[str, Tensor]:
    """The curves of the gates: the expected number of open weights, the multiplier, and the mean entropy in nats."""
    p = active(phi)
    entropy = (torch.special.entr(p) + torch.special.entr(1 - p)).mean()
    return {"open_gates": open_weights(run, phi), "multiplier": lam, "gate_entropy": entropy}


def first_phi(run: Problem) -> Tensor:
    """phi ~ N(logit rho_init, 0.1^2)."""
    return torch.logit(torch.tensor(run.settings.rho_init)) + 0.1 * run.first_noise


def averaging(run: Problem, server_cuts: bool = False, step_cuts: bool = False) -> Iterator[Round]:
    """FedAvg; Fed-IHT if the server cuts its average; FedIter-HT if clients also cut after every step."""
    settings, state = run.settings, State(run.first_weights)
    for round_ in range(settings.rounds):
        keep = kept(run, round_) if server_cuts else None
        answers = []
        for client, w in run.selected_in(round_):
            losses = run.losses(client, round_, settings.local_steps)
            theta = descent(run, state, losses, settings.rate, keep if step_cuts else None)
            answers.append((w, plain_message(run, theta, keep if settings.sparse_upload or step_cuts else None)))
        theta = torch.stack([w * answer.theta for w, answer in answers]).sum(0)
        state, down = plain_message(run, theta, keep), state
        yield Round("training", round_, down, answers[0][1], state, state.theta)


def feedback(run: Problem, gated: bool) -> Iterator[Round]:
    """E-FLoPS or FedAvg with error feedback: sparse changes of theta (and phi) in both directions; what is omitted
    follows later.

    All clients share a view of the server's vectors. Each client's memory holds what its answers have omitted so
    far.
    """
    settings, lam = run.settings, torch.zeros(())
    vectors = {"theta": run.first_weights}
    if gated:
        vectors["phi"] = first_phi(run).clamp(-settings.phi_limit, settings.phi_limit)
        if settings.rescale_start:
            vectors["theta"] = vectors["theta"] / run.with_ones(mean_gate(vectors["phi"]))
    # Every client can compute the first vectors from the seed, so the view starts with them and they are never sent.
    view, nothing = vectors, {name: torch.zeros_like(vector) for name, vector in vectors.items()}
    memory: dict[int, dict[str, Tensor]] = {}
    sent = compressed(run, nothing)
    for round_ in range(settings.rounds):
        changes, multiplier = nothing, lam * 0
        for client, w in run.selected_in(round_):
            if gated:
                theta, phi, client_lam = gated_steps(run, view["theta"], view["phi"], lam, client, round_)
                local = {"theta": theta, "phi": phi}
            else:
                losses, client_lam = run.losses(client, round_, settings.local_steps), lam
                local = {"theta": descent(run, State(view["theta"]), losses, settings.rate, None)}
            left = memory.get(client, nothing)
            wanted = {name: local[name] - view[name] + left[name] for name in view}
            # What this omits stays in the client's memory and is added to its next change.
            answer = compressed(run, wanted)
            memory[client] = {name: wanted[name] - answer[name].values[0] for name in view}
            changes = {name: changes[name] + w * answer[name].values[0] for name in view}
            multiplier = multiplier + w * client_lam
        down, up = feedback_message(run, sent, lam), feedback_message(run, answer, client_lam)
        # The view, not the server's vectors, is what clients know; it moves only by the differences that were sent.
        vectors = moved(run, vectors, changes)
        sent = compressed(run, {name: vectors[name] - view[name] for name in view})
        view = moved(run, view, {name: part.values[0] for name, part in sent.items()})
        weights, curve = vectors["theta"], {}
        if gated:
            lam = multiplier * (active(view["phi"]).sum() > run.target)
            weights = noise_free(run, weights, vectors["phi"], mean_gate(vectors["phi"]))
            curve = watched(run, vectors["phi"], lam)
        state = State(vectors["theta"], vectors.get("phi"), lam)
        yield Round("training", round_, down, up, state, weights, curve, replays=True)


def compressed(run: Problem, vectors: dict[str, Tensor]) -> dict[str, Part]:
    """The k largest values of theta; of phi the k that deviate most from the median, and for all others their mean."""
    keep, parts = max(1, math.floor(run.settings.feedback * run.gated + 1e-9)), {}
    for name, values in vectors.items():
        drifts = name == "phi"
        centre = values.sort().values[len(values) // 2] if drifts else 0.0
        never_cut = torch.ones(len(values) - run.gated, dtype=torch.bool)
        support = torch.cat([largest((values[: run.gated] - centre).abs(), keep), never_cut])
        common = values[~support].sum() / max(1, int((~support).sum())) if drifts else torch.zeros(())
        row = torch.where(support, values, common)
        parts[name] = Part(row[None], support[None], common[None] if drifts else None)
    return parts


def moved(run: Problem, vectors: dict[str, Tensor], changes: dict[str, Tensor]) -> dict[str, Tensor]:
    """The vectors after these changes, with phi clamped to its limits."""
    after = {name: vectors[name] + changes[name] for name in vectors}
    if "phi" in after:
        after["phi"] = after["phi"].clamp(-run.settings.phi_limit, run.settings.phi_limit)
    return after


def feedback_message(run: Problem, parts: dict[str, Part], lam: Tensor) -> Message:
    """Changes of theta, or of theta and phi, and the multiplier."""
    return Message(parts, {"multiplier": lam[None]} if "phi" in parts else {}, ungated=run.size - run.gated)


def dual_averaging(run: Problem) -> Iterator[Round]:
    """FedDualAvg: the server averages dual vectors; weights are their soft threshold at lambda times the sum of the
    learning rates."""
    settings, dual, elapsed = run.settings, run.first_weights, torch.zeros(())
    for round_ in range(settings.rounds):
        down, answers = dual_message(run, dual, elapsed), []
        for client, w in run.selected_in(round_):
            z, h = dual.clone(), elapsed.clone()
            for mean_loss in run.losses(client, round_, settings.local_steps):
                weights = soft(run, z, settings.l1 * h).requires_grad_()
                clip_gradient(weights, settings.clip)
                mean_loss(weights).backward()
                z, h = z - settings.rate * weights.grad, h + settings.rate
            answers.append((w, z, h))
        up = dual_message(run, *answers[0][1:])
        dual = torch.stack([w * z for w, z, _ in answers]).sum(0)
        elapsed = torch.stack([w * h for w, _, h in answers]).sum()
        weights = soft(run, dual, settings.l1 * elapsed)
        # A trace of z ranks the weights that the penalty made 0, in case fewer than m are left.
        left = {"nonzero_weights": (weights != 0).sum().float()}
        yield Round("training", round_, down, up, State(dual), torch.where(weights == 0, dual * SMALL, weights), left)


def soft(run: Problem, z: Tensor, limit: Tensor) -> Tensor:
    """sign(z) max(|z| - limit, 0); parameters that are never cut have no penalty."""
    return torch.cat([softshrink(z[: run.gated], limit.item()), z[run.gated :]])


def dual_message(run: Problem, z: Tensor, h: Tensor) -> Message:
    """The message of a dual vector and its sum of learning rates."""
    return Message({"dual": Part(z[None])}, {"elapsed": h[None]}, ungated=run.size - run.gated)


def finetuning(run: Problem, weights: Tensor) -> Iterator[Round]:
    """FedAvg of the m largest weights; the others are 0 and stay 0."""
    settings, state = run.settings, plain_message(run, weights, run.target)
    for round_ in range(settings.rounds, settings.rounds + settings.finetune_rounds):
        answers = []
        for client, w in run.selected_in(round_):
            losses = run.losses(client, round_, settings.finetune_steps)
            answers.append(w * descent(run, state, losses, settings.finetune_rate, None, state.support))
        state, down = state._replace(theta=torch.stack(answers).sum(0)), state
        yield Round("finetuning", round_, down, state, state, state.theta)


def descent(
    run: Problem,
    received: State,
    losses: Iterator[Callable[[Tensor], Tensor]],
    rate: float,
    keep: int | None,
    moving: Tensor | float = 1.0,
) -> Tensor:
    """A client's weights after its local steps, cut after each to `keep`; those that are not `moving` do not change."""
    theta = received.theta.clone().requires_grad_()
    optimizer = torch.optim.SGD([theta], rate)
    # Registered before the clip: its norm must cover only the gradient of the weights that move.
    theta.register_hook(lambda gradient: gradient * moving)
    clip_gradient(theta, run.settings.clip)
    for mean_loss in losses:
        optimizer.zero_grad()
        mean_loss(theta).backward()
        optimizer.step()
        # Through `data`: a cut is a projection of the weights and has no gradient.
        theta.data = plain_message(run, theta.data, keep).theta
    return theta.detach()


def plain_message(run: Problem, theta: Tensor, keep: int | None) -> State:
    """The largest weights, or all."""
    if keep is None:
        return State(theta)
    support = top(run, theta.abs(), keep)
    return State(theta * support, support=support)


def clip_gradient(weights: Tensor, limit: float | None, samples: int = 1) -> None:
    """Make autograd clip the gradient with respect to these weights, one of `samples`, to a norm of at most `limit`."""
    if limit is not None:
        # The loss is divided by `samples`, so the limit is too. For a gradient of zeros the quotient is infinite and is
        # clamped.
        weights.register_hook(lambda gradient: gradient * (limit / samples / gradient.norm()).clamp(max=1))


def top(run: Problem, magnitude: Tensor, keep: int) -> Tensor:
    """The mask of the `keep` largest, including the floor of every layer, and of all weights that are never cut.

    Weights that share a gate are kept or cut together.
    """
    gated, ungated = magnitude[: run.gated], magnitude[run.gated :]
    if run.groups is not None:
        whole = run.groups.top(gated, keep, run.settings.layer_floor)
        return torch.cat([whole, torch.ones_like(ungated, dtype=torch.bool)])
    if run.settings.layer_floor:
        parts = (gated[layer.start : layer.stop] for layer in run.model.layers)
        floors = [largest(part, math.ceil(run.settings.layer_floor * len(part))) for part in parts]
        # An infinite magnitude puts the floors first, so they count towards `keep`.
        gated = gated.masked_fill(torch.cat(floors), math.inf)
    return torch.cat([largest(gated, keep), torch.ones_like(ungated, dtype=torch.bool)])


def kept(run: Problem, round_: int) -> int | None:
    """How many weights a cut keeps after a round: m from the prune start on; before it all, or a shrinking number."""
    settings = run.settings
    # 0.29 * 100 is 28.999... in binary; without the small number the cut would start a round early.
    start = math.floor(settings.prune_from * settings.rounds + 1e-9)
    if round_ >= start:
        return run.target
    if settings.keep_schedule == "constant":
        return None
    return run.target + math.floor((run.gated - run.target) * (1 - (round_ + 1) / (start + 1)) ** 3)


def largest(values: Tensor, keep: int) -> Tensor:
    """The mask of the `keep` largest, the first of equal ones."""
    mask = torch.zeros_like(values, dtype=torch.bool)
    # Stable, because the batched engine also keeps the first of equal values.
    mask[values.argsort(descending=True, stable=True)[:keep]] = True
    return mask


METHODS: dict[str, Callable[[Problem], Iterator[Round]]] = {
    "eflops": lambda run: eflops(run) if run.settings.feedback is None else feedback(run, gated=True),
    "fedavg": lambda run: averaging(run) if run.settings.feedback is None else feedback(run, gated=False),
    "feddualavg": dual_averaging,
    "fediht": lambda run: averaging(run, server_cuts=True),
    "fediterht": lambda run: averaging(run, server_cuts=True, step_cuts=True),
}


def train(run: Problem, method: Callable[[Problem], Iterator[Round]]) -> Iterator[Round]:
    """All rounds of a run: those of the method, then finetuning of the weights that it kept."""
    for point in method(run):
        yield point
    yield from finetuning(run, point.weights)


Server = single.Server


def run(job: Job, work: Callable[[Connect, int], None]) -> None:
    """Call `work` with one run at a time."""
    single.run(job, work, METHODS, train)
