"""The compiled passes against plain arithmetic in float64, and the random numbers against what they promise."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from eflops import fused, gates
from eflops.config.settings import GatedSettings
from eflops.methods.cut import top
from eflops.methods.gated import GatedSteps
from eflops.methods.settings import RunSettings
from eflops.models.base import Layer
from eflops.models.batch import BLOCK, filled_up, product, with_room
from eflops.noise import orders, uniform

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
    z, z_slope = gates.sample_with_slope(phi.double(), noise.double())
    exact = phi.double().requires_grad_()
    rest = temperature * gates.kl(exact, phi0) + lam.double()[:, None] * gates.active_probability(exact)
    (by_phi,) = torch.autograd.grad(rest.sum(), exact)
    by_phi = by_phi + slope.double() * theta.double() * z_slope

    local = GatedSteps(theta.clone(), phi.clone(), lam.clone(), TASK, RunSettings(runs))
    assert torch.allclose(local.open(0, noise.numpy()).double(), theta.double() * z, rtol=0, atol=1e-6)
    polynomials = [run.temperature * gates.entropy_polynomials(float(c)) for run, c in zip(runs, phi0, strict=True)]
    local.step([slope], np.array(polynomials, np.float32), None)
    assert torch.allclose(local.theta.double(), theta.double() - 0.1 * slope.double() * z, rtol=0, atol=1e-6)
    assert torch.allclose(local.phi.double(), phi.double() - 0.2 * by_phi, rtol=0, atol=1e-5)
    excess = gates.active_probability(phi)[:, :SIZE].sum(1) - TASK.target
    assert torch.allclose(local.lam, lam + 0.01 / SIZE * excess, rtol=1e-5)


def test_the_multiplier_starts_anew_once_the_constraint_holds():
    phi = torch.full((2, WIDTH), 1.0)
    phi[1] = -9.0
    local = GatedSteps(torch.zeros(2, WIDTH), phi, torch.ones(2), TASK, RunSettings([GatedSettings()] * 2))
    local.step([torch.zeros(2, WIDTH)], np.zeros((2, 2, 8), np.float32), None)
    assert local.lam[0] > 1
    assert local.lam[1] == 0


def test_a_step_moves_by_the_mean_slope_of_its_samples():
    generator = torch.Generator().manual_seed(2)
    theta, phi, slope, other = (torch.randn(2, WIDTH, generator=generator) for _ in range(4))
    noise = gates.logistic_noise(torch.rand(2, 2, WIDTH, generator=generator)).numpy()
    settings = GatedSettings(rate=0.1, samples=2)
    local = GatedSteps(theta.clone(), phi, torch.zeros(2), TASK, RunSettings([settings] * 2))
    z = [local.open(sample, noise[sample]) / theta for sample in range(2)]
    local.step([slope, other], np.zeros((2, 2, 8), np.float32), None)
    assert torch.allclose(local.theta, theta - 0.05 * (slope * z[0] + other * z[1]), rtol=0, atol=1e-6)


def test_exponentials_and_logarithms_are_exact_to_a_rounding_error_or_two():
    x = torch.linspace(-80, 80, 4096)
    powers = torch.empty_like(x)
    fused._exponentials(x.numpy(), powers.numpy())
    exact = x.double().exp()
    assert ((powers.double() - exact) / exact).abs().max() < 2e-7
    v = torch.cat([torch.logspace(-7, -0.3, 2048), 1 - torch.logspace(-7, -0.3, 2048)])
    assert (gates.logistic_noise(v).double() - torch.logit(v.double())).abs().max() < 2e-6


def test_room_behind_the_rows_changes_nothing():
    generator = torch.Generator().manual_seed(3)
    rows, matrix = torch.randn(5, 64, generator=generator), torch.randn(64, 32, generator=generator)
    roomy = with_room(5, 64).copy_(rows)
    assert roomy.untyped_storage().nbytes() == BLOCK * 64 * 4
    assert torch.equal(product(roomy, matrix), product(rows, matrix))
    among_others = torch.randn(BLOCK + 7, 64, generator=generator)
    for first in (0, 1, 20):
        some = among_others[first : first + 5]
        assert torch.equal(product(some, matrix), product(some.clone(), matrix))


@pytest.mark.parametrize("width", [1, 2, 33])
def test_orders_belong_to_their_address_and_hold_every_place_once(width):
    together = orders([3, 4, 5], "batches", (7, 2), 2, width)
    assert torch.equal(together.sort(-1).values, torch.arange(width).expand(2, 3, width))
    assert torch.equal(orders([5, 3], "batches", (7, 2), 2, width), together[:, [2, 0]])


def test_every_place_is_as_likely_to_come_first():
    first = orders(range(4000), "batches", (1, 1), 2, 5)
    for place in range(5):
        counts = torch.bincount(first[..., place].flatten(), minlength=5).double()
        assert ((counts - 1600) ** 2 / 1600).sum() < 4 + 5 * math.sqrt(2 * 4)


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


def test_the_cut_agrees_with_a_sort_of_many_and_of_few_magnitudes():
    generator = torch.Generator().manual_seed(4)
    for values in (torch.rand(7, 500, generator=generator), torch.rand(7, 500, generator=generator).sub_(0.9).relu_()):
        kept = top(values, 60, (Layer("all", 0, 500),))
        expected = values.argsort(descending=True, stable=True)[:, :60].sort().values
        assert torch.equal(torch.stack([row.nonzero()[:, 0] for row in kept]), expected)


@pytest.mark.parametrize("inner", [64, 1024])
def test_a_row_is_multiplied_alike_wherever_it_stands_and_however_few_rows_a_client_has(inner):
    generator = torch.Generator().manual_seed(5)
    for count in range(1, 70):
        data = filled_up(torch.randn(count, inner, generator=generator), torch.zeros(count))
        forth = product(torch.randn(1, inner, generator=generator).repeat(BLOCK, 1), data.columns)
        assert torch.equal(forth, forth[:1].expand_as(forth)), count
        back = product(forth, data.x)
        assert torch.equal(back, back[:1].expand_as(back)), count
