"""Modules of generative networks. Imported only where torch is."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn
from torch.nn import functional


class EncoderDecoder(nn.Module):
    """Rows to codes and back, around a mean; without a decoder the encoder's transposed weights decode."""

    def __init__(self, encoder: Any, decoder: Any, mean: Any) -> None:
        super().__init__()
        self.encoder, self.decoder = encoder, decoder
        self.register_buffer("mean", torch.as_tensor(mean))

    def encode(self, x: Any) -> Any:
        """Return the codes."""
        return self.encoder(x - self.mean.to(x.dtype))

    def decode(self, z: Any) -> Any:
        """Return the rows."""
        found = (
            self.decoder(z) if self.decoder is not None else functional.linear(z, self.encoder[0].weight.t())
        )
        return found + self.mean.to(z.dtype)

    def forward(self, x: Any) -> Any:
        """Return the rows rebuilt."""
        return self.decode(self.encode(x))


class Variational(nn.Module):
    """Encoder to mean and log-variance, decoder to the mean of a row."""

    def __init__(self, encoder: Any, decoder: Any, likelihood: str, noise: float) -> None:
        super().__init__()
        self.encoder, self.decoder, self.likelihood, self.noise = encoder, decoder, likelihood, noise

    def encode(self, x: Any) -> Any:
        """Return mean and log-variance of the causes."""
        return self.encoder(x).chunk(2, dim=1)

    def mean(self, z: Any) -> Any:
        """Return the mean of a row with these causes."""
        return torch.sigmoid(self.decoder(z)) if self.likelihood == "bernoulli" else self.decoder(z)

    def log_likelihood(self, x: Any, z: Any) -> Any:
        """Return ln p(x|z) of every row."""
        said = self.decoder(z)
        if self.likelihood == "bernoulli":
            return (x * said - functional.softplus(said)).sum(dim=1)
        constant = 0.5 * x.shape[1] * math.log(2.0 * math.pi * self.noise)
        return -0.5 * (x - said).square().sum(dim=1) / self.noise - constant

    def forward(self, x: Any) -> Any:
        """Return the rows rebuilt from the mean of their causes."""
        return self.mean(self.encode(x)[0])


class Adversaries(nn.Module):
    """A generator and a discriminator."""

    def __init__(
        self, generator: Any, discriminator: Any, low: Any, high: Any, center: Any, scale: Any
    ) -> None:
        super().__init__()
        self.generator, self.discriminator = generator, discriminator
        for name, value in (("low", low), ("high", high), ("center", center), ("scale", scale)):
            self.register_buffer(name, None if value is None else torch.as_tensor(value))

    def draw(self, z: Any) -> Any:
        """Return rows made of noise."""
        found = self.generator(z)
        if self.low is not None:
            low, high = self.low.to(z.dtype), self.high.to(z.dtype)
            return low + (high - low) * torch.sigmoid(found)
        return self.center.to(z.dtype) + self.scale.to(z.dtype) * found

    def judge(self, x: Any) -> Any:
        """Return the log-odds of being real."""
        return self.discriminator((x - self.center.to(x.dtype)) / self.scale.to(x.dtype))[:, 0]
