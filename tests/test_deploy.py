"""The templates of deploy/: made from the stages, filled in by Prefect's own rules, one with the other.

No cluster is here to run them on; what can be checked is that they fit together and lack nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from flows.deployments import KUBERNETES, ON_GPU, deployments_yaml
from flows.params import pipeline_params, stage_params
from flows.stages import PIPELINE, STAGES
from tasks.bootstrap import SOURCE_ROOT

DEPLOY = SOURCE_ROOT / "deploy"
ENTRIES = yaml.safe_load(deployments_yaml(KUBERNETES))["deployments"]


def documents(name: str) -> list[dict[str, Any]]:
    return [one for one in yaml.safe_load_all((DEPLOY / name).read_text(encoding="utf-8")) if one]


def claims() -> set[str]:
    kind = "PersistentVolumeClaim"
    return {one["metadata"]["name"] for one in documents("kubernetes/servers.yaml") if one["kind"] == kind}


def claimed(thing: Any) -> Iterator[str]:
    """The storage that a manifest asks for, wherever it stands in it."""
    if isinstance(thing, dict):
        if "claimName" in thing:
            yield thing["claimName"]
        for value in thing.values():
            yield from claimed(value)
    elif isinstance(thing, list):
        for value in thing:
            yield from claimed(value)


def test_the_deployments_are_what_the_generator_makes() -> None:
    text = (SOURCE_ROOT / KUBERNETES.file).read_text(encoding="utf-8")
    assert text == deployments_yaml(KUBERNETES), (
        f"run: python -m flows.deployments kubernetes > {KUBERNETES.file}"
    )
    assert len(ENTRIES) == len(STAGES) + 1


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["entrypoint"].split(":")[1])
def test_a_job_comes_out_of_the_template(entry: dict[str, Any]) -> None:
    from prefect.utilities.templating import apply_values

    template = json.loads((DEPLOY / "kubernetes/job-template.json").read_text(encoding="utf-8"))
    known = template["variables"]["properties"]
    given = entry["work_pool"]["job_variables"]
    assert set(given) <= set(known)
    defaults = {name: one["default"] for name, one in known.items() if "default" in one}
    made = apply_values(template["job_configuration"], defaults | given)
    pod = made["job_manifest"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    on_gpu = entry["tags"][1].removeprefix("stage:") in ON_GPU
    assert container["resources"]["limits"] == {"nvidia.com/gpu": 1 if on_gpu else 0}
    assert container["resources"]["requests"] == {"cpu": "8", "memory": "32Gi"}
    assert {mount["name"] for mount in container["volumeMounts"]} == {one["name"] for one in pod["volumes"]}
    assert set(claimed(pod)) <= claims()
    assert "nodeSelector" not in pod  # nobody asked for one
    assert not re.search(r"\{\{ (?!\$)", json.dumps(container["resources"]))


def test_the_form_of_a_cluster_has_the_papers_values() -> None:
    for entry in ENTRIES:
        name = entry["tags"][1].removeprefix("stage:")
        params = pipeline_params("paper", {}) if name == PIPELINE else stage_params(name, "paper", {})
        assert entry["parameters"] == {"params": params.model_dump(mode="json"), "profile": "paper"}


@pytest.mark.parametrize("name", ["kubernetes/servers.yaml", "ray/raycluster.yaml"])
def test_manifests_use_what_is_there(name: str) -> None:
    for one in documents(name):
        assert one["kind"] == "Namespace" or one["metadata"]["namespace"] == "alphago"
        assert set(claimed(one)) <= claims()


def test_nothing_is_open_to_the_world() -> None:
    services = [one for one in documents("kubernetes/servers.yaml") if one["kind"] == "Service"]
    assert services
    assert all(one["spec"].get("type", "ClusterIP") == "ClusterIP" for one in services)
