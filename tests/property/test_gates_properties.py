"""What holds for every gate: ranges, order, symmetry, round trips."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

import plain_gates
from eflops.training.numerics import gates

phis = st.lists(st.floats(-12, 12), min_size=1, max_size=40).map(lambda x: torch.tensor(x, dtype=torch.float64))
wild = st.lists(st.floats(-1e4, 1e4, width=32), min_size=1, max_size=70).map(torch.tensor)
uniforms = st.floats(0, 1, width=32, exclude_max=True)
numbers = st.floats(-12, 12).map(lambda x: torch.tensor(x, dtype=torch.float64))


def within_unit_interval(z: Tensor) -> bool:
    return bool(((z >= 0) & (z <= 1)).all())


@given(wild, uniforms)
def test_gates_and_probabilities_lie_between_zero_and_one(phi, uniform):
    noise = plain_gates.logistic_noise(torch.full_like(phi, uniform))
    assert torch.isfinite(noise).all()
    assert within_unit_interval(plain_gates.sample(phi, noise))
    assert within_unit_interval(gates.deterministic(phi, "median"))
    assert within_unit_interval(gates.deterministic(phi, "louizos"))
    assert within_unit_interval(gates.active_probability(phi))
    assert within_unit_interval(gates.mean_gate(phi))


@given(wild, uniforms)
def test_gradients_are_never_negative_and_belong_to_the_sampled_gate(phi, uniform):
    noise = plain_gates.logistic_noise(torch.full_like(phi, uniform))
    z, gradient = plain_gates.sample_with_gradient(phi, noise)
    assert torch.equal(z, plain_gates.sample(phi, noise))
    assert (gradient >= 0).all()
    assert (gradient[(z == 0) | (z == 1)] == 0).all()


@given(phis, st.floats(1e-3, 5), uniforms)
def test_a_larger_phi_never_gives_a_smaller_gate(phi, step, uniform):
    noise = plain_gates.logistic_noise(torch.full_like(phi, uniform))
    larger = phi + step
    assert (plain_gates.sample(larger, noise) >= plain_gates.sample(phi, noise)).all()
    assert (gates.deterministic(larger, "median") >= gates.deterministic(phi, "median")).all()
    assert (gates.active_probability(larger) > gates.active_probability(phi)).all()
    assert (gates.mean_gate(larger) > gates.mean_gate(phi)).all()


@given(phis)
def test_the_mean_gate_is_symmetric_and_below_the_probability_of_being_active(phi):
    mean = gates.mean_gate(phi)
    assert torch.allclose(mean + gates.mean_gate(-phi), torch.ones_like(mean), rtol=0, atol=1e-12)
    assert (mean < gates.active_probability(phi)).all()


@given(phis)
def test_exact_recovery_inverts_the_mean_gate(phi):
    assert torch.allclose(gates.recover(gates.mean_gate(phi), "exact"), phi, rtol=0, atol=1e-8)


@given(st.floats(1e-4, 1 - 1e-4))
def test_the_mean_gate_inverts_exact_recovery(z):
    mean = torch.tensor([z], dtype=torch.float64)
    assert torch.allclose(gates.mean_gate(gates.recover(mean, "exact")), mean, rtol=1e-10, atol=0)


@given(st.floats(1e-4, 1 - 1e-4))
def test_the_papers_recovery_inverts_the_unstretched_gate(z):
    phi = gates.recover(torch.tensor([z], dtype=torch.float64), "paper")
    assert torch.allclose(torch.sigmoid(phi / gates.BETA), torch.tensor([z], dtype=torch.float64))


@given(st.floats(0, 1), st.floats(0, 1), st.sampled_from(["paper", "exact"]))
def test_recovery_keeps_the_order_of_gates(one, other, rule):
    smaller, larger = gates.recover(torch.tensor(sorted([one, other]), dtype=torch.float64), rule).tolist()
    assert smaller <= larger


@given(phis, numbers)
def test_kl_is_never_negative_and_its_gradient_points_away_from_the_prior(phi, phi0):
    assert (plain_gates.kl(phi, phi0) >= -1e-12).all()
    assert (gates.kl_gradient(phi, phi0) * (phi - phi0) >= 0).all()


@given(phis, numbers)
def test_kl_does_not_change_when_open_and_closed_swap(phi, phi0):
    assert torch.allclose(plain_gates.kl(phi, phi0), plain_gates.kl(-phi, -phi0), rtol=1e-9, atol=1e-11)
    assert torch.allclose(gates.kl_gradient(phi, phi0), -gates.kl_gradient(-phi, -phi0), rtol=1e-8, atol=1e-11)


@given(numbers, numbers, st.integers(65, 300))
def test_float32_follows_float64(phi, phi0, length):
    near, prior = phi.float().expand(length), phi0.float()
    exact, exact_prior = near.double(), prior.double()
    assert torch.allclose(
        plain_gates.kl(near, prior).double(), plain_gates.kl(exact, exact_prior), rtol=1e-5, atol=1e-5
    )
    assert torch.allclose(
        gates.kl_gradient(near, prior).double(), gates.kl_gradient(exact, exact_prior), rtol=1e-5, atol=1e-5
    )
    assert torch.allclose(gates.mean_gate(near).double(), gates.mean_gate(exact), rtol=1e-5, atol=0)
