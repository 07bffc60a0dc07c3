"""Gates against numerical integration, Monte Carlo, finite differences and known values."""

from math import log

import numpy as np
import pytest
import torch
from scipy.integrate import quad

import plain_gates
from eflops.training.methods.gated import _draw
from eflops.training.numerics import gates

GRID = np.linspace(-8.0, 8.0, 17)
TOLERANCE = {torch.float64: 1e-8, torch.float32: 1e-4}
dtypes = pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])


def sigmoid(x: float) -> float:
    return float(1.0 / (1.0 + np.exp(-x)))


def log_density(x: float, phi: float) -> float:
    return float(-(x - phi) - 2.0 * np.logaddexp(0.0, phi - x))


def integrate(function, low: float, high: float) -> float:
    return quad(function, low, high, epsabs=1e-12, epsrel=1e-12)[0]


def integrated_kl(phi: float, phi0: float) -> float:
    """The two atoms of the gate plus its density, from the definition of the KL divergence."""
    low, high = gates.LOW, gates.HIGH
    at_zero = sigmoid(low - phi) * (np.logaddexp(0, phi0 - low) - np.logaddexp(0, phi - low))
    at_one = sigmoid(phi - high) * (np.logaddexp(0, high - phi0) - np.logaddexp(0, high - phi))
    between = integrate(lambda x: np.exp(log_density(x, phi)) * (log_density(x, phi) - log_density(x, phi0)), low, high)
    return at_zero + at_one + between


def integrated_kl_gradient(phi: float, phi0: float) -> float:
    """The derivative of the same definition, taken under the integral: score times log ratio."""
    low, high = gates.LOW, gates.HIGH
    q0, r1 = sigmoid(low - phi), sigmoid(phi - high)
    at_zero = -q0 * (1 - q0) * (np.logaddexp(0, phi0 - low) - np.logaddexp(0, phi - low))
    at_one = r1 * (1 - r1) * (np.logaddexp(0, high - phi0) - np.logaddexp(0, high - phi))
    between = integrate(
        lambda x: (
            np.exp(log_density(x, phi)) * (2.0 * sigmoid(x - phi) - 1.0) * (log_density(x, phi) - log_density(x, phi0))
        ),
        low,
        high,
    )
    return at_zero + at_one + between


def squares(dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """All pairs (phi, phi0) of the grid, shifted so that near and equal pairs are among them."""
    phi, phi0 = np.meshgrid(GRID, np.append(GRID, GRID + 0.2), indexing="ij")
    return torch.tensor(phi, dtype=dtype), torch.tensor(phi0, dtype=dtype)


def over(function, *tensors: torch.Tensor) -> torch.Tensor:
    """`function` of float64 numbers, element by element."""
    rows = zip(*(t.double().flatten().tolist() for t in tensors), strict=True)
    return torch.tensor([function(*row) for row in rows], dtype=torch.float64).reshape(tensors[0].shape)


def worst(left: torch.Tensor, right: torch.Tensor) -> float:
    return (left.double() - right.double()).abs().max().item()


@dtypes
def test_kl_is_the_integral_of_its_definition(dtype):
    phi, phi0 = squares(dtype)
    assert worst(plain_gates.kl(phi, phi0), over(integrated_kl, phi, phi0)) < TOLERANCE[dtype]


@dtypes
def test_kl_gradient_is_the_derivative_of_the_definition(dtype):
    phi, phi0 = squares(dtype)
    assert worst(gates.kl_gradient(phi, phi0), over(integrated_kl_gradient, phi, phi0)) < TOLERANCE[dtype]


def test_kl_gradient_agrees_with_finite_differences_of_kl():
    phi, phi0 = squares(torch.float64)
    step = 1e-5
    gradient = (plain_gates.kl(phi + step, phi0) - plain_gates.kl(phi - step, phi0)) / (2 * step)
    assert worst(gates.kl_gradient(phi, phi0), gradient) < 1e-8


def test_kl_has_the_known_values():
    phi = torch.tensor([1.0, 0.0], dtype=torch.float64)
    phi0 = torch.tensor([0.0, -2.944], dtype=torch.float64)
    assert plain_gates.kl(phi, phi0).tolist() == pytest.approx([0.1598659, 1.2162444], abs=5e-8)


def test_kl_has_the_values_known_for_a_temperature_of_two_thirds(monkeypatch):
    monkeypatch.setattr(gates, "LOW", -2 / 3 * log(11))
    monkeypatch.setattr(gates, "HIGH", 2 / 3 * log(11))
    phi = torch.tensor([1.0, 0.0], dtype=torch.float64)
    phi0 = torch.tensor([0.0, -2.944], dtype=torch.float64)
    assert plain_gates.kl(phi, phi0).tolist() == pytest.approx([0.1600027, 1.21773], abs=1e-6)


@dtypes
def test_kl_and_its_gradient_are_exactly_zero_at_the_prior(dtype):
    phi = torch.linspace(-8, 8, 640, dtype=dtype)
    assert torch.count_nonzero(plain_gates.kl(phi, phi)) == 0
    assert torch.count_nonzero(gates.kl_gradient(phi, phi)) == 0
    for phi0 in phi[::100]:
        assert torch.count_nonzero(plain_gates.kl(phi0.expand(64), phi0)) == 0
        assert torch.count_nonzero(gates.kl_gradient(phi0.expand(64), phi0)) == 0


@dtypes
def test_kl_is_smooth_where_its_two_formulas_meet(dtype):
    phi = torch.linspace(-8, 8, 64, dtype=dtype)
    step = 10 * torch.finfo(dtype).eps
    for delta in (-0.5, 0.5):
        inside, outside = (plain_gates.kl(phi, phi - delta * factor) for factor in (1 - step, 1 + step))
        assert worst(inside, outside) < 100 * torch.finfo(dtype).eps


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_kl_is_finite_and_grows_evenly_however_far_the_prior_is(dtype):
    far = torch.tensor([50.0, 51.0, 999.0, 1000.0], dtype=dtype)
    for sign in (1, -1):
        for phi in (torch.zeros(4, dtype=dtype), -sign * far):
            values = plain_gates.kl(phi, sign * far)
            assert values.isfinite().all()
            assert (values[1] - values[0]).item() == pytest.approx((values[3] - values[2]).item(), rel=1e-3)


def test_kl_gradient_takes_a_prior_for_each_parameter():
    phi = torch.linspace(-6, 6, 5 * 64).reshape(5, 64)
    prior = torch.linspace(-3, 3, 64)
    gradient = gates.kl_gradient(phi, prior)
    for column in range(64):
        alone = gates.kl_gradient(phi[:, column].contiguous(), prior[column])
        assert worst(gradient[:, column], alone) < 1e-6


@dtypes
def test_kl_gradient_stays_finite_and_points_home_far_outside_the_usual_range(dtype):
    far = torch.tensor([-1000.0, -50.0, -14.0, 14.0, 50.0, 1000.0], dtype=dtype)
    for prior in far:
        gradient = gates.kl_gradient(far, prior)
        assert torch.isfinite(gradient).all()
        assert (gradient * (far - prior) >= 0).all()


@dtypes
def test_the_mean_gate_is_the_integral_of_its_tail_probability(dtype):
    phi = torch.linspace(-12, 12, 49, dtype=dtype)

    def expected(value: float) -> float:
        def above(t: float) -> float:
            return sigmoid(value - gates.BETA * log((t - gates.GAMMA) / (gates.ZETA - t)))

        return integrate(above, 0.0, 1.0)

    relative = gates.mean_gate(phi).double() / over(expected, phi) - 1.0
    assert relative.abs().max().item() < {torch.float64: 1e-10, torch.float32: 1e-6}[dtype]


def test_samples_have_the_mean_the_activity_and_the_gradient_that_the_formulas_say():
    generator = torch.Generator().manual_seed(7)
    phi = torch.linspace(-4, 4, 9, dtype=torch.float64)
    uniform = torch.rand(200_000, 9, generator=generator, dtype=torch.float64)
    z, gradient = plain_gates.sample_with_gradient(phi, plain_gates.logistic_noise(uniform))
    step = 1e-4
    mean_gradient = (gates.mean_gate(phi + step) - gates.mean_gate(phi - step)) / (2 * step)
    # The spread of each mean is at most .5 / sqrt(200 000) = .0011.
    assert worst(z.mean(dim=0), gates.mean_gate(phi)) < 0.005
    assert worst((z > 0).double().mean(dim=0), gates.active_probability(phi)) < 0.005
    assert worst(gradient.mean(dim=0), mean_gradient) < 0.005


def test_kl_is_the_mean_log_ratio_of_samples():
    phi, phi0 = 0.7, -1.1
    uniform = torch.rand(400_000, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    x = (phi + plain_gates.logistic_noise(uniform)).numpy()
    ratio = np.logaddexp(0, phi0 - x) * 2 - np.logaddexp(0, phi - x) * 2 + phi - phi0
    at_zero = np.logaddexp(0, phi0 - gates.LOW) - np.logaddexp(0, phi - gates.LOW)
    at_one = np.logaddexp(0, gates.HIGH - phi0) - np.logaddexp(0, gates.HIGH - phi)
    ratio = np.where(x <= gates.LOW, at_zero, np.where(x >= gates.HIGH, at_one, ratio))
    expected = plain_gates.kl(torch.tensor([phi]).double(), torch.tensor(phi0).double()).item()
    assert abs(ratio.mean() - expected) < 5 * ratio.std() / np.sqrt(ratio.size)


def test_a_samples_gradient_is_its_derivative_and_zero_where_clipped():
    phi = torch.linspace(-4, 4, 401, dtype=torch.float64)
    noise = torch.full_like(phi, 0.3)
    z, gradient = plain_gates.sample_with_gradient(phi, noise)
    step = 1e-6
    difference = (plain_gates.sample(phi + step, noise) - plain_gates.sample(phi - step, noise)) / (2 * step)
    assert worst(gradient, difference) < 1e-8
    clipped = (z == 0) | (z == 1)
    assert clipped.any()
    assert not clipped.all()
    assert torch.count_nonzero(gradient[clipped]) == 0
    assert torch.count_nonzero(gradient[~clipped]) == gradient[~clipped].numel()


def test_sampled_gates_are_numbers_at_the_ends_of_the_noise():
    uniform = np.array([0.0, 0.1, 0.5, 0.9, 1.0 - 2.0**-24], np.float32)
    sampled, phi = np.empty_like(uniform), np.zeros_like(uniform)
    _draw(phi, uniform, sampled)
    middle = plain_gates.sample(torch.zeros(3), torch.tensor([-log(9), 0.0, log(9)]))
    assert sampled.tolist() == pytest.approx([0.0, *middle.tolist(), 1.0], abs=1e-6)


def test_deterministic_gates_open_and_close_at_the_ends_of_the_stretch():
    phi = torch.tensor([-9.0, gates.LOW, 0.0, gates.HIGH, 9.0], dtype=torch.float64)
    assert gates.deterministic(phi, "median").tolist() == pytest.approx([0, 0, 0.5, 1, 1], abs=1e-12)
    assert gates.deterministic(phi / gates.BETA, "louizos").tolist() == pytest.approx([0, 0, 0.5, 1, 1], abs=1e-12)


def test_a_density_of_five_percent_means_twenty_percent_active_gates():
    phi = torch.full((3, 100), log(0.05 / 0.95))
    assert gates.active_probability(phi)[0, 0].item() == pytest.approx(0.204, abs=5e-4)
    assert gates.expected_active(phi).tolist() == pytest.approx([20.4] * 3, abs=0.05)


@pytest.mark.parametrize("rho", [0.05, 0.26, 0.5, 0.8, 0.95])
def test_the_polynomials_follow_the_gradient_of_the_kl(rho):
    phi0 = log(rho) - log(1 - rho)
    phi = torch.linspace(-8, 8, 777, dtype=torch.float64)
    q = torch.sigmoid(phi).numpy()
    tilt, level = (np.polyval(coefficients, 2 * q - 1) for coefficients in gates.entropy_polynomials(phi0))
    expected = gates.kl_gradient(phi, torch.tensor(phi0, dtype=torch.float64)).numpy()
    assert np.abs(q * (1 - q) * (phi.numpy() * tilt + level) - expected).max() < 1e-5


def test_exact_recovery_inverts_the_mean_gate():
    for dtype, wide, middle in ((torch.float32, 1e-3, 1e-5), (torch.float64, 1e-10, 1e-12)):
        phi = torch.linspace(-8, 8, 1024, dtype=dtype)
        error = (gates.recover(gates.mean_gate(phi), "exact") - phi).abs()
        assert error.max() < wide
        assert error[phi.abs() < 2].max() < middle


def test_the_papers_recovery_draws_phi_toward_zero():
    phi = torch.tensor([-4.6, 4.6])
    recovered = gates.recover(gates.mean_gate(phi), "paper")
    assert recovered.tolist() == pytest.approx([-2.84, 2.84], abs=0.02)


@pytest.mark.parametrize("rule", ["paper", "exact"])
def test_gates_of_exactly_zero_and_one_recover_to_finite_phi(rule):
    low, high = gates.recover(torch.tensor([0.0, 1.0]), rule).tolist()
    assert -16 < low < -8
    assert 8 < high < 16


def test_unknown_variants_and_rules_are_named():
    with pytest.raises(ValueError, match="'mode'"):
        gates.deterministic(torch.zeros(1), "mode")
    with pytest.raises(ValueError, match="'newton'"):
        gates.recover(torch.zeros(1), "newton")


def everything(phi: torch.Tensor) -> list[torch.Tensor]:
    """What the training loop takes from this module, [rows, parameters] or [rows] each."""
    mean = gates.mean_gate(phi)
    return [
        gates.active_probability(phi),
        gates.expected_active(phi),
        gates.deterministic(phi, "median"),
        gates.deterministic(phi, "louizos"),
        mean,
        gates.recover(mean, "paper"),
        gates.recover(mean, "exact"),
        gates.kl_gradient(phi, torch.tensor(-0.7)),
    ]


@pytest.mark.parametrize("width", [64, 192, 1024])
def test_a_rows_bits_do_not_depend_on_the_rows_beside_it(width):
    generator = torch.Generator().manual_seed(width)
    phi = 4 * torch.randn(32, width, generator=generator)
    together = everything(phi)
    for rows in range(8, 33):
        order = torch.randperm(32, generator=generator)[:rows]
        apart = everything(phi[order])
        assert all(torch.equal(whole[order], part) for whole, part in zip(together, apart, strict=True))


def test_a_row_that_is_not_a_number_does_not_touch_the_others():
    phi = torch.linspace(-4, 4, 8 * 64).reshape(8, 64)
    sound = everything(phi)
    broken_phi = phi.clone()
    broken_phi[3] = torch.nan
    others = [0, 1, 2, 4, 5, 6, 7]
    broken = everything(broken_phi)
    assert all(torch.equal(a[others], b[others]) for a, b in zip(sound, broken, strict=True))
