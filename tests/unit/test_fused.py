"""The compiled passes against plain arithmetic in float64, and the random numbers against what they promise."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from eflops import gates
from eflops.config.settings import GatedSettings
from eflops.methods.cut import top
from eflops.methods.gated import GatedSteps
from eflops.methods.settings import RunSettings
from eflops.models.base import Layer
from eflops.noise import uniform

SIZE, WIDTH = 100, 128
TASK = SimpleNamespace(size=SIZE, target=5)


def test_a_step_descends_on_loss_entropy_and_constraint():
    generator = torch.Generator().manual_seed(1)
    theta, phi, slope = (torch.randn(3, WIDTH, generator=generator) for _ in range(3))
    lam = torch.tensor([0.0, 0.5, 2.0])
    runs = [
        GatedSettings(rate=0.1, gate_rate=0.2, temperature=temperature, rho_init=rho)
        for temperature, rho in ((0.0, 0.5), (0.3, 0.2), (1.0, 0.8))
    ]
    phi0 = torch.tensor([[math.log(run.rho_init / (1 - run.rho_init))] for run in runs], dtype=torch.float64)
    temperature = torch.tensor([[run.temperature] for run in runs], dtype=torch.float64)

    noise = gates.logistic_noise(torch.rand(3, WIDTH, generator=generator))
    z, z_slope = gates.sample_with_slope(phi, noise)
    exact = phi.double().requires_grad_()
    rest = temperature * gates.kl(exact, phi0) + lam.double()[:, None] * gates.active_probability(exact)
    (by_phi,) = torch.autograd.grad(rest.sum(), exact)
    by_phi = by_phi + slope.double() * theta.double() * z_slope.double()

    local = GatedSteps(theta.clone(), phi.clone(), lam.clone(), TASK, RunSettings(runs))
    local.add(slope.clone(), z, z_slope, 1)
    polynomials = [run.temperature * gates.entropy_polynomials(float(c)) for run, c in zip(runs, phi0, strict=True)]
    local.step(np.array(polynomials, np.float32), None)
    assert torch.allclose(local.theta.double(), theta.double() - 0.1 * slope.double() * z.double(), rtol=0, atol=1e-6)
    assert torch.allclose(local.phi.double(), phi.double() - 0.2 * by_phi, rtol=0, atol=1e-5)
    excess = gates.active_probability(phi)[:, :SIZE].sum(1) - TASK.target
    assert torch.allclose(local.lam, lam + 0.01 / SIZE * excess, rtol=1e-5)


def test_the_multiplier_starts_anew_once_the_constraint_holds():
    phi = torch.full((2, WIDTH), 1.0)
    phi[1] = -9.0
    local = GatedSteps(torch.zeros(2, WIDTH), phi, torch.ones(2), TASK, RunSettings([GatedSettings()] * 2))
    local.step(np.zeros((2, 2, 8), np.float32), None)
    assert local.lam[0] > 1
    assert local.lam[1] == 0


@pytest.mark.parametrize("width", [64, 33, 1])
def test_random_numbers_belong_to_their_address(width):
    together = uniform([3, 4, 5], "gates", (7, 2), 2, width)
    assert together.shape == (2, 3, width)
    assert torch.equal(uniform([5, 3], "gates", (7, 2), 2, width), together[:, [2, 0]])
    assert torch.equal(uniform([4], "gates", (7, 2), 1, width), together[:1, [1]])
    for purpose, address in (("batches", (7, 2)), ("gates", (2, 7)), ("gates", (7, 3))):
        assert not torch.equal(uniform([3, 4, 5], purpose, address, 2, width), together)


def test_random_numbers_are_uniform_and_unrelated_over_seeds_rounds_and_places():
    draws = torch.stack([uniform(range(50), "gates", (round_, 1), 2, 128) for round_ in range(40)]).double()
    assert draws.min() >= 0
    assert draws.max() < 1
    counts = torch.histc(draws.float(), 64, 0, 1)
    expected = draws.numel() / 64
    assert ((counts - expected) ** 2 / expected).sum() < 63 + 5 * math.sqrt(2 * 63)
    centred = (draws - 0.5) * math.sqrt(12)  # [rounds, count, runs, width], each of variance 1
    bound = 5 / math.sqrt(draws.numel() / 2)
    pairs = {
        "rounds": (centred[1:], centred[:-1]),
        "counts": (centred[:, 0], centred[:, 1]),
        "runs": (centred[:, :, 1:], centred[:, :, :-1]),
        "places": (centred[..., 1:], centred[..., :-1]),
        "halves": (centred[..., :64], centred[..., 64:]),
    }
    for name, (one, other) in pairs.items():
        assert abs((one * other).mean().item()) < bound, name


def test_the_cut_keeps_exactly_m_whatever_ties_and_nans_there_are():
    layers = (Layer("all", 0, 6),)
    values = torch.tensor([[1.0, 0, 0, 0, 0, 0, 9], [2, 2, 2, 2, 3, 2, 9], [torch.nan, 1, 1, 1, 1, 1, 9]])
    kept = top(values, 3, layers)
    assert [row.nonzero()[:, 0].tolist() for row in kept] == [[0, 1, 2], [0, 1, 4], [0, 1, 2]]
