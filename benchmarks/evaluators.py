"""Ways to compute a network on one thread of a processor: python -m benchmarks.evaluators [--rounds 5]

Positions a processor second of policy networks, from bytes to logits, through the product's backends: torch
in float32 and in bfloat16 (channels last), OpenVINO in both. ONNX Runtime, which the product does not use,
has float32 alone on x86 and runs the same network exported in memory. All take turns; medians, and ratios to
torch of the same numbers. What is not installed (extras `openvino` and `peers`) is left out.
"""

from __future__ import annotations

import argparse
import io
import os
import statistics
import time
import warnings

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch
from torch import Tensor

from benchmarks.self_play import typical_planes
from models.backends import Backend, has_openvino, make_backend
from models.networks import PolicyNet
from models.precision import fast_bfloat16

SIZES = (9, 19)
NETS = ((32, 5), (64, 6), (128, 8))  # filters, layers
BATCHES = (1, 8, 16, 64)
BASE = {"float32": "torch float32", "bfloat16": "torch bfloat16"}


def ways(net: PolicyNet) -> dict[str, Backend]:
    """Each way by its name, torch first."""
    cpu = torch.device("cpu")
    numbers = [kind for kind in BASE if kind == "float32" or fast_bfloat16(cpu)]
    backends = ["torch", *(["openvino"] if has_openvino() else [])]
    found = {
        f"{backend} {kind}": make_backend(net, backend, kind, cpu)  # type: ignore[arg-type]
        for backend in backends
        for kind in numbers
    }
    if (peer := onnx_runtime(net)) is not None:
        found["onnxruntime float32"] = peer
    return found


def onnx_runtime(net: PolicyNet) -> Backend | None:
    try:
        import onnx  # noqa: F401  torch's exporter needs it
        import onnxruntime
    except ImportError:
        return None
    file, example = io.BytesIO(), torch.zeros(2, net.planes, net.size, net.size)
    axes = {"planes": {0: "rows"}, "logits": {0: "rows"}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter through TorchScript is the old one, and needs no more
        torch.onnx.export(
            net.eval(),
            (example,),
            file,
            dynamo=False,
            input_names=["planes"],
            output_names=["logits"],
            dynamic_axes=axes,
        )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(file.getvalue(), options, providers=["CPUExecutionProvider"])

    def answer(planes: Tensor) -> Tensor:
        return torch.from_numpy(session.run(None, {"planes": planes.float().numpy()})[0])

    return answer


def rates(backends: dict[str, Backend], planes: Tensor, seconds: float, rounds: int) -> dict[str, float]:
    """Positions a processor second, medians of rounds in turn of about `seconds` each."""
    calls, found = {}, {name: [] for name in backends}
    for name, backend in backends.items():
        backend(planes)
        calls[name] = max(2, int(seconds / min(timed(backend, planes, 2) for _ in range(3))))
    for _ in range(rounds):
        for name, backend in backends.items():
            found[name].append(len(planes) / timed(backend, planes, calls[name]))
    return {name: statistics.median(numbers) for name, numbers in found.items()}


def timed(backend: Backend, planes: Tensor, calls: int) -> float:
    """Processor seconds of one call."""
    begin = time.process_time()
    for _ in range(calls):
        backend(planes)
    return (time.process_time() - begin) / calls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.05, help="of each measurement, about")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    names: list[str] = []
    for size in SIZES:
        for filters, layers in NETS:
            backends = ways(PolicyNet(size, filters=filters, layers=layers))
            if not names:
                names = list(backends)
                print(f"| board | filters, layers | batch | {' | '.join(names)} |")
                print(f"|---|---|---:|{'---:|' * len(names)}", flush=True)
            for batch in BATCHES:
                planes = torch.from_numpy(typical_planes(size, batch))
                with torch.inference_mode():
                    found = rates(backends, planes, asked.seconds, asked.rounds)
                cells = [cell(name, found) for name in names]
                print(f"| {size}x{size} | {filters}, {layers} | {batch} | {' | '.join(cells)} |", flush=True)


def cell(name: str, found: dict[str, float]) -> str:
    """The rate, and how many times that of torch it is."""
    base = BASE[name.split()[1]]
    return f"{found[name]:,.0f}" + ("" if name == base else f" ({found[name] / found[base]:.2f})")


if __name__ == "__main__":
    main()
