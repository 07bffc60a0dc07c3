"""Modules that tests bring as a user would."""

import torch
from torch import Tensor, nn
from torch.nn import functional


def linear(shape: tuple[int, ...], classes: int | None) -> nn.Module:
    """The built-in linear model."""
    return nn.Sequential(nn.Linear(shape[0], 1, bias=False))


class Split(nn.Module):
    """The linear model, with its last seven features in a module of their own."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.first = nn.Linear(features - 7, 1, bias=False)
        self.last = nn.Linear(7, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """A number a row."""
        return self.first(x[:, :-7]) + self.last(x[:, -7:])


def split(shape: tuple[int, ...], classes: int | None) -> nn.Module:
    """A model of which a part may stay ungated."""
    return Split(shape[0])


def dropout(shape: tuple[int, ...], classes: int | None) -> nn.Module:
    """A regression with dropout and an ungated norm."""
    return nn.Sequential(
        nn.Linear(shape[0], 8), nn.LayerNorm(8), nn.Tanh(), nn.Dropout(0.5), nn.Linear(8, classes or 1)
    )


class PaperCnn(nn.Module):
    """The paper's CNN as anybody would write it."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.dense1 = nn.Linear(256, 120)
        self.dense2 = nn.Linear(120, 84)
        self.dense3 = nn.Linear(84, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Class logits of images [n, 1, 28, 28]."""
        x = functional.relu(functional.max_pool2d(self.conv1(x), 2))
        x = functional.relu(functional.max_pool2d(self.conv2(x), 2))
        x = functional.relu(self.dense1(torch.flatten(x, 1)))
        return self.dense3(functional.relu(self.dense2(x)))


def cnn(shape: tuple[int, ...], classes: int) -> nn.Module:
    """The paper's CNN."""
    return PaperCnn(classes)


class Residual(nn.Module):
    """x + block(norm(x))."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)
        self.norm = nn.GroupNorm(2, channels)

    def forward(self, x: Tensor) -> Tensor:
        """The same shape."""
        return x + torch.relu(self.norm(self.conv(x)))


def residual(shape: tuple[int, ...], classes: int) -> nn.Module:
    """A residual network of images."""
    return nn.Sequential(
        nn.Conv2d(shape[0], 4, 5, stride=4), Residual(4), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, classes)
    )


class Tied(nn.Module):
    """An autoencoder of features whose decoder is its encoder, transposed, and a head."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(features, features), nn.Linear(features, features)
        self.second.weight = self.first.weight
        self.head = nn.Linear(features, 1)

    def forward(self, x: Tensor) -> Tensor:
        """A number a row."""
        return self.head(torch.tanh(self.second(torch.tanh(self.first(x)))))


def tied(shape: tuple[int, ...], classes: int | None) -> nn.Module:
    """Shared weights."""
    return Tied(shape[0])


def batch_norm(shape: tuple[int, ...], classes: int | None) -> nn.Module:
    """A module with running statistics."""
    return nn.Sequential(nn.Linear(shape[0], 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
