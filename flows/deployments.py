"""prefect.yaml, made from the stages and the demo profile: `python -m flows.deployments > prefect.yaml`.

A deployment's parameters are what its form shows. What a run is given replaces the whole of `params`; what is
then missing comes from the profile again (`flows.params.over_profile`).
"""

from __future__ import annotations

from typing import Any

import yaml

from flows.params import pipeline_params, stage_params
from flows.stages import PIPELINE, STAGES

HEADER = """\
# Made by `python -m flows.deployments > prefect.yaml` from flows/stages.py and the demo profile.
# PROJECT_ROOT is this folder; it is read when deploying and kept as an absolute path.
"""
POOL = "local-process"
PROFILE = "demo"
# Off until somebody turns it on; a run on unchanged games finds everything done and reuses it.
NIGHTLY = {"cron": "0 2 * * *", "timezone": "UTC", "active": False}
# What a run's process needs of its surroundings beyond what flows/ sets itself.
JOB_ENVIRONMENT = {"DO_NOT_TRACK": "1", "PYTHONPATH": "{{ $PROJECT_ROOT }}"}


def deployments_yaml() -> str:
    content = {
        "name": "alphago-pipeline",
        "build": None,
        "push": None,
        "pull": [{"prefect.deployments.steps.set_working_directory": {"directory": "{{ $PROJECT_ROOT }}"}}],
        "deployments": [
            *(
                _deployment(one.name, one.section, one.about, _stage_values(one.name))
                for one in STAGES.values()
            ),
            _deployment(PIPELINE, PIPELINE, "All stages in order", _pipeline_values()),
        ],
    }
    return HEADER + yaml.dump(content, sort_keys=False, allow_unicode=True, width=110, Dumper=_Plain)


def _deployment(name: str, module: str, about: str, params: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": "local",
        "description": f"{about}.",
        "entrypoint": f"flows/{module}.py:{module}",
        "tags": ["alphago", f"stage:{name}"],
        "parameters": {"params": params, "profile": PROFILE},
        "schedules": [dict(NIGHTLY)],
        "concurrency_limit": 1,
        "work_pool": {"name": POOL, "job_variables": {"env": dict(JOB_ENVIRONMENT)}},
    }


def _stage_values(name: str) -> dict[str, Any]:
    return stage_params(name, PROFILE, {}).model_dump(mode="json")


def _pipeline_values() -> dict[str, Any]:
    return pipeline_params(PROFILE, {}).model_dump(mode="json")


class _Plain(yaml.SafeDumper):
    """Every value written out, none by reference to an earlier one."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


if __name__ == "__main__":
    print(deployments_yaml(), end="")
