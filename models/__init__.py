"""Torch networks, their checkpoints and batched evaluation. Knows neither the data sets nor the stages."""
