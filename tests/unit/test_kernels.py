"""The compiled passes against plain arithmetic in float64, and the random numbers against what they promise."""

import math

import numpy as np
import pytest
import torch
from scipy import stats

import plain_gates
from eflops.config.settings import GatedSettings
from eflops.training.methods.cut import top
from eflops.training.methods.eflops import NO_PRIOR
from eflops.training.methods.gated import Limits, Local, gated_step, open_gates
from eflops.training.models.base import Layer
from eflops.training.numerics import gates, kernels
from eflops.training.numerics.arithmetic import sum_of_squares, total
from eflops.training.numerics.noise import address_of, normal, orders, uniform

SIZE, TARGET = 100, 5
LIMITS = Limits(np.float32(8), np.float32(TARGET))
ADDRESS = address_of("gates", (3, 1))


def numbers(runs: list[GatedSettings], entropy: np.ndarray) -> np.ndarray:
    """The settings of runs as local steps take them."""
    columns = [(run.rate, run.gate_rate, run.multiplier_rate / SIZE, math.inf, run.temperature) for run in runs]
    return np.hstack([columns, entropy.reshape(len(runs), -1)]).astype(np.float32)


def opened(local: Local, seeds: list[int], turn: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """The gates and the weights behind them."""
    z, weights = np.empty_like(local.theta), np.empty_like(local.theta)
    open_gates(local, ADDRESS, np.array(seeds, np.uint64), turn, z, weights)
    return torch.from_numpy(z), torch.from_numpy(weights)


def normal_tensors(seed: int, runs: int, count: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(runs, SIZE, generator=generator) for _ in range(count)]


@pytest.mark.parametrize("prior", ["mean", "init"])
def test_a_step_descends_on_loss_entropy_and_constraint(prior: str) -> None:
    theta, phi, gradient, first = normal_tensors(1, 3, 4)
    lam = torch.tensor([0.0, 0.5, 2.0])
    runs = [
        GatedSettings(rate=0.1, gate_rate=0.2, temperature=temperature, rho_init=rho)
        for temperature, rho in ((0.0, 0.5), (0.3, 0.2), (1.0, 0.8))
    ]
    centres = torch.tensor([[math.log(run.rho_init / (1 - run.rho_init))] for run in runs], dtype=torch.float64)
    phi0 = centres if prior == "mean" else first.double()
    temperature = torch.tensor([[run.temperature] for run in runs], dtype=torch.float64)

    local = Local(theta.clone().numpy(), phi.clone().numpy(), lam.clone().numpy())
    drawn, weights = opened(local, [4, 5, 6])
    noise = plain_gates.logistic_noise(uniform([4, 5, 6], "gates", (3, 1), 1, SIZE)[0])
    z, z_gradient = plain_gates.sample_with_gradient(phi.double(), noise.double())
    assert torch.allclose(drawn.double(), z, rtol=0, atol=1e-6)
    assert torch.allclose(weights.double(), theta.double() * z, rtol=0, atol=1e-6)

    exact = phi.double().requires_grad_()
    with torch.enable_grad():
        rest = temperature * plain_gates.kl(exact, phi0) + lam.double()[:, None] * torch.sigmoid(exact - gates.LOW)
        (by_phi,) = torch.autograd.grad(rest.sum(), exact)
    by_phi = by_phi + gradient.double() * theta.double() * z_gradient
    polynomials = [run.temperature * gates.entropy_polynomials(float(c)) for run, c in zip(runs, centres, strict=True)]
    of_mean = np.array(polynomials) * (prior == "mean")
    own_prior = first.numpy() if prior == "init" else NO_PRIOR
    gated_step(local, gradient[None].numpy(), drawn[None].numpy(), numbers(runs, of_mean), own_prior, LIMITS)
    assert np.allclose(local.theta, theta.double() - 0.1 * gradient.double() * z, rtol=0, atol=1e-6)
    assert np.allclose(local.phi, phi.double() - 0.2 * by_phi, rtol=0, atol=1e-5)
    excess = gates.active_probability(phi).sum(1) - TARGET
    assert np.allclose(local.lam, lam + 0.01 / SIZE * excess, rtol=1e-5)


def test_the_multiplier_starts_again_at_zero_once_the_constraint_holds() -> None:
    phi = torch.full((2, SIZE), 1.0)
    phi[1] = -9.0
    local = Local(np.zeros((2, SIZE), np.float32), phi.numpy(), np.ones(2, np.float32))
    nothing = np.zeros((1, 2, SIZE), np.float32)
    gated_step(local, nothing, nothing, numbers([GatedSettings()] * 2, np.zeros((2, 2, 8))), NO_PRIOR, LIMITS)
    assert local.lam[0] > 1
    assert local.lam[1] == 0


def test_a_step_moves_by_the_mean_gradient_of_its_samples() -> None:
    theta, phi, gradient, other = normal_tensors(2, 2, 4)
    local = Local(theta.clone().numpy(), phi.numpy(), np.zeros(2, np.float32))
    z = [opened(local, [1, 2], turn)[0] for turn in range(2)]
    settings = numbers([GatedSettings(rate=0.1, samples=2)] * 2, np.zeros((2, 2, 8)))
    gated_step(local, torch.stack([gradient, other]).numpy(), torch.stack(z).numpy(), settings, NO_PRIOR, LIMITS)
    assert np.allclose(local.theta, theta - 0.05 * (gradient * z[0] + other * z[1]), rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_exponentials_and_logarithms_are_exact_to_a_rounding_error_or_two(kind: type) -> None:
    x, few = np.linspace(-80, 80, 4096).astype(kind), 2 * np.finfo(kind).eps
    powers, back = np.empty_like(x), np.empty_like(x)
    kernels.exponentials(x, powers)
    exact = np.exp(x.astype(np.longdouble))
    assert np.abs((powers - exact) / exact).max() < few
    kernels.logarithms(powers, back)
    assert np.abs(back - np.log(powers.astype(np.longdouble))).max() < few * 80
    near = np.linspace(0.5, 2, 4097).astype(kind)
    kernels.logarithms(near, near_logs := np.empty_like(near))
    assert np.abs(near_logs - np.log(near.astype(np.longdouble))).max() < few


def test_sums_are_right_whatever_their_length() -> None:
    for length in (0, 1, 15, 16, 17, 1000):
        values = np.random.default_rng(length).standard_normal(length, np.float32)
        assert total(values) == pytest.approx(values.astype(float).sum(), abs=1e-4)
        assert sum_of_squares(values) == pytest.approx((values.astype(float) ** 2).sum(), rel=1e-5)


def test_a_gradient_is_shortened_to_the_limit_and_no_further() -> None:
    gradients = np.array([[3.0, 4.0], [3.0, 4.0], [0.0, 0.0]], np.float32)
    kernels.clip_rows(gradients, np.array([1.0, 9.0, 1.0], np.float32))
    assert gradients.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [3.0, 4.0], [0.0, 0.0]]


def test_rows_that_are_not_finite_are_found() -> None:
    values = np.ones((4, 70), np.float32)
    values[1, 69], values[2, 3] = np.inf, np.nan
    finite = np.ones(4, np.bool_)
    kernels.finite_rows(values, finite)
    assert finite.tolist() == [True, False, False, True]


def test_normal_numbers_have_the_normal_distribution() -> None:
    numbers = normal(3, "first gates", 20000).double().numpy()
    assert stats.kstest(numbers, "norm").pvalue > 0.01
    assert np.abs(numbers).max() > 3.5


@pytest.mark.parametrize("width", [1, 2, 33])
def test_orders_belong_to_their_address_and_hold_every_place_once(width):
    together = orders([3, 4, 5], "batches", (7, 2), 2, width)
    assert np.array_equal(np.sort(together, -1), np.broadcast_to(np.arange(width), (2, 3, width)))
    assert np.array_equal(orders([5, 3], "batches", (7, 2), 2, width), together[:, [2, 0]])


def test_every_place_is_as_likely_to_come_first():
    first = orders(range(4000), "batches", (1, 1), 2, 5)
    for row in range(5):
        counts = np.bincount(first[..., row].ravel(), minlength=5)
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


def test_the_cut_keeps_exactly_m_and_what_is_never_cut_whatever_ties_and_nans_there_are():
    layers = (Layer("all", 0, 6),)
    values = torch.tensor([[1.0, 0, 0, 0, 0, 0, 9], [2, 2, 2, 2, 3, 2, 9], [torch.nan, 1, 1, 1, 1, 1, 9]])
    kept = top(values, 3, layers)
    assert [row.nonzero()[:, 0].tolist() for row in kept] == [[0, 1, 2, 6], [0, 1, 4, 6], [0, 1, 2, 6]]


def test_the_cut_agrees_with_a_sort_of_many_and_of_few_magnitudes():
    generator = torch.Generator().manual_seed(4)
    for values in (torch.rand(7, 500, generator=generator), torch.rand(7, 500, generator=generator).sub_(0.9).relu_()):
        kept = top(values, 60, (Layer("all", 0, 500),))
        expected = values.argsort(descending=True, stable=True)[:, :60].sort().values
        assert torch.equal(torch.stack([row.nonzero()[:, 0] for row in kept]), expected)
