"""Federated averaging of a linear model in each library's own way: the same clients, rows, steps, rate and clip.

Run by peers.py in the library's own environment, so nothing of eflops is imported here:

    python loops.py LIBRARY FEDERATION.npz

The last line of its output is the CPU time in ms per seed-round for each piece of work, as JSON.
"""

import json
import resource
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

STEPS, ASKED, RATE, CLIP, MANY = 5, 6, 0.0012, 70.5, 30
BATCHES = {"whole": None, "16 rows": 16}
Clients = list[tuple[np.ndarray, np.ndarray]]


def cpu_seconds() -> float:
    """What this process has used, by the kernel's account."""
    spent = resource.getrusage(resource.RUSAGE_SELF)
    return spent.ru_utime + spent.ru_stime


def fastest(work: Callable[[int], Any], rounds: int, seeds: int = 1, repeats: int = 3) -> float:
    """CPU ms per seed-round, without the first rounds, which may compile."""
    work(2)
    best = float("inf")
    for _ in range(repeats):
        start = cpu_seconds()
        work(rounds)
        best = min(best, (cpu_seconds() - start) / rounds / seeds * 1e3)
    return best


def drawn(draw: np.random.Generator, rows: int, batch: int | None) -> np.ndarray:
    """The rows [steps, batch] of a client's local steps."""
    size = rows if batch is None else min(batch, rows)
    if size == rows:
        return np.tile(np.arange(rows), (STEPS, 1))
    return draw.permutation(rows)[np.arange(STEPS * size) % rows].reshape(STEPS, size)


def asked(draw: np.random.Generator, clients: Clients) -> tuple[np.ndarray, np.ndarray]:
    """The clients of a round, and their weights."""
    chosen = draw.permutation(len(clients))[:ASKED]
    counts = np.array([len(clients[client][1]) for client in chosen], np.float32)
    return chosen, counts / counts.sum()


def with_numpy(clients: Clients, batch: int | None) -> dict[str, float]:
    """As one would write it down."""

    def work(rounds: int) -> None:
        draw, theta = np.random.default_rng(0), np.zeros(clients[0][0].shape[1], np.float32)
        for _ in range(rounds):
            total = np.zeros_like(theta)
            for client, weight in zip(*asked(draw, clients), strict=True):
                (x, y), own = clients[client], theta.copy()
                for rows in drawn(draw, len(y), batch):
                    some, labels = (x, y) if len(rows) == len(y) else (x[rows], y[rows])
                    slope = np.float32(2 / len(labels)) * (some.T @ (some @ own - labels))
                    norm = np.sqrt(slope @ slope)
                    own -= np.float32(RATE * min(1.0, CLIP / norm)) * slope
                total += weight * own
            theta = total

    return {"numpy loop": fastest(work, 100)}


def with_jax(clients: Clients, batch: int | None) -> dict[str, float]:
    """A client's local steps as one compiled function; then all seeds at once by vmap."""
    import jax
    import jax.numpy as jnp

    def update(theta: Any, x: Any, y: Any) -> Any:
        def step(own: Any, batch_: Any) -> Any:
            some, labels = batch_
            slope = jax.grad(lambda weights: jnp.mean((some @ weights - labels) ** 2))(own)
            return own - RATE * jnp.minimum(1.0, CLIP / jnp.linalg.norm(slope)) * slope, None

        return jax.lax.scan(step, theta, (x, y))[0]

    def whole(theta: Any, x: Any, y: Any) -> Any:
        def step(own: Any, _: Any) -> Any:
            slope = jax.grad(lambda weights: jnp.mean((x @ weights - y) ** 2))(own)
            return own - RATE * jnp.minimum(1.0, CLIP / jnp.linalg.norm(slope)) * slope, None

        return jax.lax.scan(step, theta, None, STEPS)[0]

    local = jax.jit(whole if batch is None else lambda theta, x, y, rows: update(theta, x[rows], y[rows]))
    over = (0, None, None) if batch is None else (0, None, None, 0)
    local_many = jax.jit(jax.vmap(whole if batch is None else lambda t, x, y, r: update(t, x[r], y[r]), over))
    data = [(jnp.asarray(x), jnp.asarray(y)) for x, y in clients]

    def one(rounds: int) -> None:
        draw, theta = np.random.default_rng(0), jnp.zeros(clients[0][0].shape[1])
        for _ in range(rounds):
            total = jnp.zeros_like(theta)
            for client, weight in zip(*asked(draw, clients), strict=True):
                rows = () if batch is None else (drawn(draw, len(clients[client][1]), batch),)
                total = total + weight * local(theta, *data[client], *rows)
            theta = total
        theta.block_until_ready()

    def many(rounds: int) -> None:
        draw, theta = np.random.default_rng(0), jnp.zeros((MANY, clients[0][0].shape[1]))
        for _ in range(rounds):
            weights = np.zeros((len(clients), MANY, 1), np.float32)
            for seed in range(MANY):
                chosen, shares = asked(draw, clients)
                weights[chosen, seed, 0] = shares
            total = jnp.zeros_like(theta)
            for client, (_, y) in enumerate(clients):
                rows = () if batch is None else (np.stack([drawn(draw, len(y), batch) for _ in range(MANY)]),)
                total = total + weights[client] * local_many(theta, *data[client], *rows)
            theta = total
        theta.block_until_ready()

    return {"jax, jit": fastest(one, 50), "jax, vmap of 30 seeds": fastest(many, 20, MANY)}


def with_fedjax(clients: Clients, batch: int | None) -> dict[str, float]:
    """Its own federated averaging."""
    import fedjax
    import jax
    import jax.numpy as jnp
    import optax

    def loss(params: Any, examples: Any, rng: Any) -> Any:
        return jnp.mean((examples["x"] @ params["w"] - examples["y"]) ** 2)

    optimizer = fedjax.optimizers.create_optimizer_from_optax(
        optax.chain(optax.clip_by_global_norm(CLIP), optax.sgd(RATE))
    )
    hparams = fedjax.ShuffleRepeatBatchHParams(
        batch_size=batch or max(len(y) for _, y in clients), num_epochs=None, num_steps=STEPS, drop_remainder=False
    )
    algorithm = fedjax.algorithms.fed_avg.federated_averaging(
        jax.grad(loss), optimizer, fedjax.optimizers.sgd(learning_rate=1.0), hparams
    )
    data = {b"%d" % index: {"x": x, "y": y} for index, (x, y) in enumerate(clients)}
    federated = fedjax.InMemoryFederatedData(data)

    def work(rounds: int) -> None:
        sampler = fedjax.client_samplers.UniformGetClientSampler(federated, ASKED, seed=0)
        state = algorithm.init({"w": jnp.zeros(clients[0][0].shape[1])})
        for _ in range(rounds):
            state, _ = algorithm.apply(state, sampler.sample())
        jax.block_until_ready(state.params)

    return {"fedjax": fastest(work, 20)}


LIBRARIES = {"numpy": with_numpy, "jax": with_jax, "fedjax": with_fedjax}


def main() -> None:
    """Time one library on both kinds of batches."""
    library, path = sys.argv[1:]
    arrays = np.load(path)
    clients = [(arrays[f"x{client}"], arrays[f"y{client}"]) for client in range(len(arrays.files) // 2)]
    found = {label: LIBRARIES[library](clients, batch) for label, batch in BATCHES.items()}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
