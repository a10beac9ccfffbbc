"""prefect.yaml, made from the stages and a profile: `python -m flows.deployments > prefect.yaml`.

`python -m flows.deployments kubernetes > deploy/kubernetes/prefect.yaml` makes that for a cluster.

A deployment's parameters are what its form shows. What a run is given replaces the whole of `params`; what is
then missing comes from the profile again (`flows.params.over_profile`).
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import yaml

from flows.params import Profile, pipeline_params, stage_params
from flows.stages import PIPELINE, STAGES

HEADER = """\
# Made by `python -m flows.deployments{argument} > {file}` from flows/stages.py and the profile {profile}.
# PROJECT_ROOT is the folder of the sources{where}; it is read when deploying and kept as an absolute path.
"""
# Off until somebody turns it on; a run on unchanged games finds everything done and reuses it.
NIGHTLY = {"cron": "0 2 * * *", "timezone": "UTC", "active": False}
# What a run's process needs of its surroundings beyond what flows/ sets itself.
JOB_ENVIRONMENT = {"DO_NOT_TRACK": "1", "PYTHONPATH": "{{ $PROJECT_ROOT }}"}
ON_GPU = ("train-sl-policy", "train-rl-policy", "generate-value-set", "train-value-network", PIPELINE)


class Target(NamedTuple):
    """A kind of work pool, and what its deployments are called and made from."""

    name: str  # of the deployments: STAGE/name
    pool: str
    profile: Profile
    file: str
    where: str
    environment: dict[str, str]  # of a run's process, beyond JOB_ENVIRONMENT
    job: dict[str, Any]  # other variables of the pool's job template, for every stage
    gpu_job: dict[str, Any]  # and for those that a GPU speeds up


LOCAL = Target("local", "local-process", "demo", "prefect.yaml", "", {}, {}, {})
KUBERNETES = Target(
    "kubernetes",
    "kubernetes",
    "paper",
    "deploy/kubernetes/prefect.yaml",
    " in the image",
    {"MLFLOW_TRACKING_URI": "http://mlflow:5000"},
    {"image": "{{ $ALPHAGO_IMAGE }}", "namespace": "alphago", "cpu_request": "8", "memory_request": "32Gi"},
    {"gpus": 1},
)
TARGETS = {target.name: target for target in (LOCAL, KUBERNETES)}


def deployments_yaml(target: Target = LOCAL) -> str:
    header = HEADER.format(
        argument="" if target is LOCAL else f" {target.name}",
        file=target.file,
        profile=target.profile,
        where=target.where,
    )
    content = {
        "name": "alphago-pipeline",
        "build": None,
        "push": None,
        "pull": [{"prefect.deployments.steps.set_working_directory": {"directory": "{{ $PROJECT_ROOT }}"}}],
        "deployments": [
            *(
                _deployment(target, one.name, one.section, one.about, _stage_values(one.name, target))
                for one in STAGES.values()
            ),
            _deployment(target, PIPELINE, PIPELINE, "All stages in order", _pipeline_values(target)),
        ],
    }
    return header + yaml.dump(content, sort_keys=False, allow_unicode=True, width=110, Dumper=_Plain)


def _deployment(target: Target, name: str, module: str, about: str, params: dict[str, Any]) -> dict[str, Any]:
    job = (
        {"env": JOB_ENVIRONMENT | target.environment}
        | target.job
        | (target.gpu_job if name in ON_GPU else {})
    )
    return {
        "name": target.name,
        "description": f"{about}.",
        "entrypoint": f"flows/{module}.py:{module}",
        "tags": ["alphago", f"stage:{name}"],
        "parameters": {"params": params, "profile": target.profile},
        "schedules": [dict(NIGHTLY)],
        "concurrency_limit": 1,
        "work_pool": {"name": target.pool, "job_variables": job},
    }


def _stage_values(name: str, target: Target) -> dict[str, Any]:
    return stage_params(name, target.profile, {}).model_dump(mode="json")


def _pipeline_values(target: Target) -> dict[str, Any]:
    return pipeline_params(target.profile, {}).model_dump(mode="json")


class _Plain(yaml.SafeDumper):
    """Every value written out, none by reference to an earlier one."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


if __name__ == "__main__":
    print(deployments_yaml(TARGETS[sys.argv[1]] if sys.argv[1:] else LOCAL), end="")
