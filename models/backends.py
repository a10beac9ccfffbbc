"""What computes a network's answers: torch, or OpenVINO (`pip install .[openvino]`) on processors.

A backend takes uint8 planes as a torch tensor on its device and gives the network's numbers as float32: the
logits of a policy network, the values of a value network. It has a copy of the weights, so that training may
go on. OpenVINO compiles the network in memory, for as many threads as torch has at that moment.
"""

from __future__ import annotations

import copy
import importlib.util
import sys
import threading
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, Literal

import torch
from torch import Tensor, nn

from models.networks import Network
from models.precision import Precision, number_type

BackendName = Literal["auto", "torch", "openvino"]
Backend = Callable[[Tensor], Tensor]


def make_backend(net: Network, name: BackendName, precision: Precision, device: torch.device) -> Backend:
    """auto is OpenVINO on a processor where it is installed. ValueError for what is not there."""
    if name == "auto":
        name = "openvino" if device.type == "cpu" and has_openvino() else "torch"
    if name == "torch":
        return torch_backend(net, precision, device)
    if device.type != "cpu":
        raise ValueError(f"openvino computes on cpu here, not on {device}")
    if not has_openvino():
        raise ValueError("openvino is not installed (pip install .[openvino])")
    return openvino_backend(net, precision)


def has_openvino() -> bool:
    return importlib.util.find_spec("openvino") is not None


def torch_backend(net: Network, precision: Precision, device: torch.device) -> Backend:
    kind = number_type(precision, device)
    layout = torch.channels_last if kind == torch.bfloat16 else torch.contiguous_format
    moved: nn.Module = copy.deepcopy(net).to(device, kind)
    own: nn.Module = moved.to(memory_format=layout).eval()  # type: ignore[call-overload]

    def answer(planes: Tensor) -> Tensor:
        numbers: Tensor = own(planes.to(kind, memory_format=layout))
        return numbers.float()

    return answer


def openvino_backend(net: Network, precision: Precision) -> Backend:
    openvino = _openvino()
    kind = number_type(precision, torch.device("cpu"))
    own = _FromBytes(copy.deepcopy(net).float()).eval()
    example = torch.zeros(1, net.planes, net.size, net.size, dtype=torch.uint8)
    shape = openvino.PartialShape([-1, net.planes, net.size, net.size])
    with warnings.catch_warnings(), torch.inference_mode():
        # The network's shapes are fixed; how torch would rather be asked for its graph is OpenVINO's matter.
        for kind_of_warning in (torch.jit.TracerWarning, DeprecationWarning):
            warnings.simplefilter("ignore", kind_of_warning)
        model = openvino.convert_model(own, example_input=example, input=[shape])
    settings = {
        "INFERENCE_NUM_THREADS": torch.get_num_threads(),
        "NUM_STREAMS": 1,
        "INFERENCE_PRECISION_HINT": "bf16" if kind == torch.bfloat16 else "f32",
    }
    compiled = _core().compile_model(model, "CPU", settings)

    requests = threading.local()  # threads may ask at the same time, each with a request of its own

    def answer(planes: Tensor) -> Tensor:
        if not hasattr(requests, "own"):
            requests.own = compiled.create_infer_request()
        rows = planes.contiguous().numpy()  # not copied, and so not to be freed before the answer
        requests.own.infer([rows], share_inputs=True)
        return torch.from_numpy(requests.own.get_output_tensor().data.copy())

    return answer


class _FromBytes(nn.Module):
    def __init__(self, net: Network) -> None:
        super().__init__()
        self.net = net

    def forward(self, planes: Tensor) -> Tensor:
        numbers: Tensor = self.net(planes.float())
        return numbers


@cache
def _core() -> Any:
    """One for the life of the process.

    Its plugin gives the thread that loads it a stack for signals, of which it frees the memory when the last
    user goes: the next signal would then end the process.
    """
    return _openvino().Core()


def _openvino() -> Any:
    """The package without its telemetry, which would call home at the import."""
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
    import openvino

    return openvino
