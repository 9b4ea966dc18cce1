"""Everything an operator may set, read once. The only reader of the environment and of `countersign.toml`.

Every field is also an environment variable, `COUNTERSIGN_` and its name in capitals; the environment wins over the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from gateway.core.errors import Misconfigured
from gateway.core.model import DEFAULT_TOOL_TIMEOUT
from gateway.runtime.questions import APPROVAL_SECONDS
from gateway.runtime.turns import GRACE_SECONDS, SNAPSHOT_SECONDS

CONFIG_FILE = "countersign.toml"


class Settings(BaseSettings):
    """The settings of one gateway. Durations are seconds, sizes bytes, paths relative to the working directory."""

    model_config = SettingsConfigDict(env_prefix="COUNTERSIGN_", frozen=True, extra="forbid", toml_file=CONFIG_FILE)

    host: str = Field("127.0.0.1", description="address to listen on; loopback unless a proxy with TLS stands in front")
    port: int = Field(8765, ge=0, le=65535, description="port to listen on; 0 takes a free one")
    names: Literal["subdomains", "addresses"] = Field(
        "subdomains",
        description="`subdomains`: agent.localhost and console.localhost; `addresses`: 127.0.0.1 and localhost, for "
        "browsers that do not resolve *.localhost",
    )
    agent_origin: str = Field("", description="public origin of the web shell; derived from `names` and `port` when empty")
    console_origin: str = Field("", description="public origin of the console; derived from `names` and `port` when empty")

    state: Path = Field(Path("state"), description="folder of the database, keys and sockets")
    workspace: Path = Field(Path("workspace"), description="folder the built-in file tools work in")
    policy: Path | None = Field(None, description="folder of the policy documents; the shipped ones when unset")
    web: Path | None = Field(None, description="folder of the built web apps; found beside the package when unset")
    builtin_tools: bool = Field(True, description="whether the built-in tools are offered")
    tools_modules: tuple[str, ...] = Field((), description="Python modules with further tools")
    tool_files: tuple[Path, ...] = Field((), description="JSON files that describe programs as tools")
    tool_timeout: float = Field(
        DEFAULT_TOOL_TIMEOUT, gt=0, le=3600, description="how long a program may run unless its file says"
    )
    sandbox: Literal["auto", "bubblewrap", "landlock"] = Field(
        "auto", description="what programs are caged with; `auto` takes the strongest that works on this machine"
    )
    http_allow_hosts: tuple[str, ...] = Field((), description="host:port that http_get may reach though it is not public")

    model: str = Field("default", description="catalogue name or path of a GGUF file; `none` for no local model")
    model_url: str = Field("", description="base URL of an OpenAI-compatible server to use instead of a local model")
    model_name: str = Field("", description="model to ask for at `model_url`; its first one when empty")
    model_key: SecretStr = Field(SecretStr(""), description="API key for `model_url`")
    model_context: int = Field(4096, ge=512, description="context tokens of the local model")
    prompt_cache: Path | None = Field(None, description="folder where a local model keeps evaluated prompts for later launches")
    llama_server: str = Field("", description="path of a llama-server binary; else one on PATH, else the xllamacpp wheel")

    approval_seconds: float = Field(APPROVAL_SECONDS, gt=0, description="how long a question waits for an answer")
    snapshot_seconds: float = Field(SNAPSHOT_SECONDS, gt=0, description="how long a turn's snapshot is valid")
    grace_seconds: float = Field(GRACE_SECONDS, gt=0, description="how long a lost connection's turn can be resumed")
    enrolment_minutes: float = Field(15.0, gt=0, description="how long an enrolment link works")
    metrics_token: SecretStr = Field(SecretStr(""), description="bearer token for /metrics from beyond loopback")
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Options of the command line, then the environment, then the file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    @model_validator(mode="after")
    def _check_origins(self) -> Self:
        for name, origin in (("agent_origin", self.agent_origin), ("console_origin", self.console_origin)):
            if origin and not _is_origin(origin):
                raise ValueError(f"{name} must be scheme and host, like https://agent.example.com")
        if bool(self.agent_origin) != bool(self.console_origin):
            raise ValueError("set both agent_origin and console_origin, or neither")
        if self.agent_origin and urlsplit(self.agent_origin).hostname == urlsplit(self.console_origin).hostname:
            raise ValueError("agent_origin and console_origin must have different hosts; cookies ignore ports")
        return self

    def origins(self, port: int) -> tuple[str, str]:
        """Agent and console origin when listening on `port`."""
        if self.agent_origin:
            return self.agent_origin, self.console_origin
        agent, console = ("agent.localhost", "console.localhost") if self.names == "subdomains" else ("127.0.0.1", "localhost")
        return f"http://{agent}:{port}", f"http://{console}:{port}"


def load_settings(**options: object) -> Settings:
    """The settings in force; `options` of the command line win where they are not None. Raises Misconfigured."""
    given = {name: value for name, value in options.items() if value is not None}
    try:
        return Settings(**given)  # pyright: ignore[reportArgumentType] - pydantic validates what the command line gives
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, fault['loc'])) or 'settings'}: {fault['msg']}" for fault in error.errors())
        raise Misconfigured(f"settings are wrong: {faults}") from None


def _is_origin(text: str) -> bool:
    parts = urlsplit(text)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and text == f"{parts.scheme}://{parts.netloc}"
