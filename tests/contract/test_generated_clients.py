"""Third-party tools accept the description: client generators for two languages, and a validator."""

from __future__ import annotations

import compileall
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import validate

from octavo.kit.http.operation import TABLE
from octavo.operations.installation import load_packages
from octavo.operations.meanings import describe_operations
from tools import fetch_packages, node_command
from world import URL

load_packages()

BIN = Path(sys.executable).parent
GENERATORS = Path(__file__).with_name("generators")

pytestmark = pytest.mark.slow

NOT_JSON = [
    "GET /orgs/{organizationId}/sites/{siteId}/styleguide/export",
    "GET /saml/{samlProviderId}/metadata",
    "GET /spaces/{spaceId}/archive",
]
"""Operations that the Python generator omits, because it doesn't know their media types: XML and archives."""


@pytest.fixture(scope="module")
def description() -> dict[str, Any]:
    return describe_operations(f"{URL}/v1", "0")


@pytest.fixture(scope="module")
def file(description: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("description") / "openapi.json"
    path.write_text(json.dumps(description, ensure_ascii=False))
    return path


def _run(*command: str | Path, folder: Path) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env={**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_a_validator_finds_no_errors(description: dict[str, Any]) -> None:
    validate(description)


def test_a_python_client_is_generated_and_compiles(file: Path, tmp_path: Path) -> None:
    said = _run(
        BIN / "openapi-python-client",
        "generate",
        "--path",
        file,
        "--output-path",
        "made",
        "--meta",
        "none",
        folder=tmp_path,
    )
    assert sorted(re.findall(r"WARNING parsing (\w+ \S+)", said)) == NOT_JSON, said
    assert "Unable to process" not in said, said
    assert compileall.compile_dir(tmp_path / "made", quiet=1)
    operations = {path.stem for path in (tmp_path / "made" / "api").glob("*/*.py")}
    assert len(operations - {"__init__"}) >= len(TABLE) - len(NOT_JSON)
    _run(sys.executable, "-c", "import made.models, made.api.spaces.get_space_by_id", folder=tmp_path)


OPTIONS = {
    "strict": True,
    "noEmit": True,
    "module": "esnext",
    "moduleResolution": "bundler",
    "allowImportingTsExtensions": True,
    "target": "es2022",
    "lib": ["es2022", "dom", "dom.iterable"],
}
TYPES = """
import type { operations } from "./made/api.ts";
type Sent<O extends keyof operations> = NonNullable<operations[O]["requestBody"]> extends
  { content: { "application/json": infer Body } } ? Body : never;
type Space = operations["getSpaceById"]["responses"][200]["content"]["application/json"];
export const title = (space: Space): string => space.title;
// What has a default may be left out.
export const published: Sent<"publishIntegration"> = {
  title: "Chat", description: "Talks", script: "export default {};", scopes: [], organization: "o",
};
export const asked: Sent<"askInOrganization"> = { query: "how" };
"""
CALLS = """
import { askInOrganization, getSpaceById, publishIntegration } from "./made/index.ts";
export const title = async () => (await getSpaceById({ path: { spaceId: "s" }, throwOnError: true })).data.title;
export const asked = () => askInOrganization({ path: { organizationId: "o" }, body: { query: "how" } });
export const published = () => publishIntegration({
  path: { integrationName: "chat" },
  body: { title: "Chat", description: "Talks", script: "export default {};", scopes: [], organization: "o" },
});
"""


@pytest.mark.parametrize(
    ("program", "output", "use"),
    [
        ("openapi-typescript/bin/cli.js", ("-o", "made/api.ts"), TYPES),
        ("@hey-api/openapi-ts/bin/run.js", ("-o", "made", "-i"), CALLS),
    ],
    ids=["openapi-typescript", "hey-api"],
)
def test_a_typescript_client_is_generated_and_compiles_strictly(
    file: Path, tmp_path: Path, program: str, output: tuple[str, ...], use: str
) -> None:
    packages = fetch_packages(GENERATORS, "generators") / "node_modules"
    (tmp_path / "node_modules").symlink_to(packages)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "use.ts").write_text(use)
    (tmp_path / "tsconfig.json").write_text(json.dumps({"compilerOptions": OPTIONS, "files": ["use.ts"]}))
    given = (*output, file) if output[-1] == "-i" else (file, *output)
    _run(*node_command("node"), packages / program, *given, folder=tmp_path)
    _run(*node_command("node"), packages / "typescript" / "bin" / "tsc", "-p", ".", folder=tmp_path)
