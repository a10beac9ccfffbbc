"""What a network is trained for: the loss of a batch and the numbers worth watching.

The paper maximises log p(a|s) for the policy and takes the step (z - v) dv/dtheta for the value network, the
gradient of half the squared error; both are means over the batch.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from tasks.batches import TensorBatch

TOP = 5

# (what the network gave, batch) -> (loss to descend, means over the batch by name)
Objective = Callable[[Tensor, TensorBatch], tuple[Tensor, dict[str, Tensor]]]


def policy_objective(logits: Tensor, batch: TensorBatch) -> tuple[Tensor, dict[str, Tensor]]:
    """Cross entropy of the moves, in nats; how often the move is the net's first, or in its first five."""
    logits = logits.float()
    loss = functional.cross_entropy(logits, batch.moves)
    with torch.no_grad():
        best = logits.topk(min(TOP, logits.shape[1]), dim=1).indices == batch.moves[:, None]
        watched = {
            "loss": loss.detach(),
            "accuracy": best[:, 0].float().mean(),
            "top5_accuracy": best.any(dim=1).float().mean(),
        }
    return loss, watched


def value_objective(values: Tensor, batch: TensorBatch) -> tuple[Tensor, dict[str, Tensor]]:
    """Half the squared error; watched as mse without the half, and how often the sign is right."""
    values = values.float()
    mse = functional.mse_loss(values, batch.outcomes)
    right = (values.detach() * batch.outcomes > 0).float().mean()
    return mse / 2, {"mse": mse.detach(), "sign_accuracy": right}
