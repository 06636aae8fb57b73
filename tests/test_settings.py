"""Settings: their sources, and the refusal of invalid values."""

from __future__ import annotations

from pathlib import Path

import pytest

from octavo.settings import SettingsError, load

REFUSED = {
    "OCTAVO_URL": [
        "example.com",
        "ftp://example.com",
        "http://",
        "http://host:99999",
        "http://host/?a=b",
        "http://host/wiki",
        "https://host//x/",
    ],
    "OCTAVO_SITES_URL": ["docs.example.com:8001", "http://127.0.0.1:8000", "http://host:0x1"],
    "OCTAVO_DATABASE_URL": [
        "sqlite:///octavo.db",
        "sqlite://x",
        "sqlite:////",
        "mysql://h/d",
        "/a/file.db",
        "postgresql://a:5432,b:x/d",
    ],
    "OCTAVO_DATABASE_DIRECT_URL": ["mysql://h/d", "postgresql://h/d"],
    "OCTAVO_SMTP_URL": ["mail.example.com:587", "http://mail.example.com", "smtp://", "smtp://host:1e5"],
    "OCTAVO_FILES_URL": ["s3://[bucket", "s3://bucket:port/"],
    "OCTAVO_LLM_URL": ["localhost:11434", "file:///etc/passwd"],
    "OCTAVO_OIDC_ISSUER": ["accounts.example.com"],
    "OCTAVO_WORKERS": ["0", "many", "257"],
    "OCTAVO_RATE_LIMIT": ["0", "-1"],
    "OCTAVO_TRY_RATE_LIMIT": ["0", "-1"],
    "OCTAVO_TRY_CONNECTIONS": ["0", "257"],
    "OCTAVO_LOG_FORMAT": ["xml"],
    "OCTAVO_ADMIN_TOKEN": ["short"],
    "OCTAVO_TRUSTED_PROXIES": ["10.0.0.0/99"],
    "OCTAVO_INTEGRATION_HEADERS": ["x y", "Cookie", "a:b"],
    "OCTAVO_ALLOW_PRIVATE_FETCH": [
        "docs.internal",
        "10.0.0.7:",
        "10.0.0.7:0",
        "10.0.0.7:80, other",
        "http://a:80/x",
    ],
    "OCTAVO_WOKERS": ["2"],
    "OCTAVO_NOTHING_OF_THE_KIND": [""],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name in REFUSED for value in REFUSED[name]])
def test_invalid_settings_are_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(SettingsError) as refused:
        load(environ={name: value})
    assert name in str(refused.value)


def test_several_postgresql_servers_fit_in_one_url() -> None:
    url = "postgresql://octavo:geheim%21@a:5432,b:5433/docs?target_session_attrs=read-write"
    settings = load(environ={"OCTAVO_DATABASE_URL": url})
    assert settings.database == url and "geheim!" in settings.secrets


def test_an_unknown_setting_suggests_the_nearest_one(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="OCTAVO_WORKERS"):
        load(environ={"OCTAVO_WOKERS": "2"})
    config = tmp_path / "octavo.toml"
    config.write_text("worker = 2\n")
    with pytest.raises(SettingsError, match="did you mean workers"):
        load(config=config, environ={})


def test_a_data_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(SettingsError, match="OCTAVO_DATA"):
        load(environ={"OCTAVO_DATA": str(tmp_path / "data")})


def test_a_password_in_an_invalid_url_is_not_shown() -> None:
    with pytest.raises(SettingsError) as refused:
        load(environ={"OCTAVO_DATABASE_URL": "mysql://octavo:hunter2222@host/name"})
    assert "hunter2222" not in str(refused.value)


def test_the_command_line_overrides_the_environment_which_overrides_the_file(tmp_path: Path) -> None:
    config = tmp_path / "octavo.toml"
    config.write_text("workers = 2\nthreads = 2\nrate_limit = 2\n")
    environ = {"OCTAVO_WORKERS": "3", "OCTAVO_THREADS": "3"}
    found = load({"workers": 4, "threads": None}, config, environ, {"rate_limit": 1, "oidc_label": "given"})
    assert (found.workers, found.threads, found.rate_limit, found.oidc_label) == (4, 3, 2, "given")


def test_secrets_are_recognized_in_every_source() -> None:
    found = load(
        environ={
            "OCTAVO_ADMIN_TOKEN": "t" * 32,
            "OCTAVO_LLM_KEY": "model-key",
            "OCTAVO_OIDC_CLIENT_SECRET": "client-secret",
            "OCTAVO_DATABASE_URL": "postgresql://octavo:data%40base@host/name",
            "OCTAVO_SMTP_URL": "smtp://mailer:mail-pass@host",
        }
    )
    assert {"t" * 32, "model-key", "client-secret", "data@base", "mail-pass"} <= set(found.secrets)
