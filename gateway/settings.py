"""Everything an operator may set, with what each setting may be. `settings_reading` reads them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, PrivateAttr, SecretStr, ValidationInfo, field_validator, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from gateway.core.model import DEFAULT_TOOL_TIMEOUT
from gateway.core.vocabulary import SettingPlace
from gateway.installation import installed_folder, shipped_web
from gateway.runtime.timing import (
    APPROVAL_SECONDS,
    DRAIN_SECONDS,
    ENROLMENT_SECONDS,
    GRACE_SECONDS,
    SNAPSHOT_SECONDS,
    SOCKETS_PER_SESSION,
)
from gateway.sandbox.machine_paths import lies_in, overlap
from gateway.setting_values import (
    DAY,
    File,
    Folder,
    HostAndPort,
    ModelName,
    ModelServer,
    ModuleName,
    NewFolder,
    Origin,
    PushContact,
    RetainedDays,
    RetainedTool,
    Seconds,
    ServerArguments,
    TimeZone,
    Token,
    WebApps,
)

CONFIG_FILE: Final = "countersign.toml"
PREFIX: Final = "COUNTERSIGN_"


class Settings(BaseSettings):
    """The settings of one gateway. Durations are seconds, sizes bytes, paths relative to the working directory."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="forbid", allow_inf_nan=False)

    host: str = Field("127.0.0.1", min_length=1, description="address to listen on; loopback unless a proxy with TLS is in front")
    port: int = Field(8765, ge=0, le=65535, description="port to listen on; 0 takes a free one")
    names: Literal["subdomains", "addresses"] = Field(
        "subdomains",
        description="`subdomains`: agent.localhost and console.localhost; `addresses`: 127.0.0.1 and localhost, for "
        "browsers that do not resolve *.localhost",
    )
    agent_origin: Origin = Field("", description="public origin of the web shell; derived from `names` and `port` when empty")
    console_origin: Origin = Field("", description="public origin of the console; derived from `names` and `port` when empty")

    client_origin: Origin = Field(
        "", description="public origin of `/mcp`, where MCP clients connect; localhost when all three are empty, else none"
    )

    state: NewFolder = Field(Path("state"), description="folder of the database, keys and sockets")
    workspace: NewFolder = Field(Path("workspace"), description="folder the built-in file tools work in")
    backups: NewFolder | None = Field(
        None, description="folder where the console has backups made; `backups` in the state folder when unset"
    )
    policy: Folder | None = Field(None, description="folder of the policy documents; the shipped ones when unset")
    policy_source: Literal["files", "database"] = Field(
        "files",
        description="where the policy is kept: `files`: in its folder, changed there; `database`: in the record, changed on "
        "the console with passkeys, beginning with what was in force last",
    )
    web: WebApps | None = Field(None, description="folder of the built web apps; found beside the package when unset")
    builtin_tools: bool = Field(True, description="whether the built-in tools are offered")
    tools_modules: tuple[ModuleName, ...] = Field((), description="Python modules with further tools")
    tool_files: tuple[File, ...] = Field((), description="JSON files that describe programs as tools")
    sources: dict[str, dict[str, Any]] = Field(
        {}, description="MCP servers, HTTP APIs and databases whose tools are offered: `[sources.NAME]` tables, see docs/TOOLS.md"
    )
    sinks: dict[str, dict[str, Any]] = Field(
        {}, description="where the records of the audit log are sent as they come: `[sinks.NAME]` tables, see docs/AUDIT.md"
    )
    anchors: dict[str, dict[str, Any]] = Field(
        {}, description="where checkpoints of the audit log are kept elsewhere: `[anchors.NAME]` tables, see docs/AUDIT.md"
    )
    tool_timeout: float = Field(
        DEFAULT_TOOL_TIMEOUT, gt=0, le=3600, description="how long a program may run unless its file says"
    )
    sandbox: Literal["auto", "bubblewrap", "landlock"] = Field(
        "auto", description="what programs are sandboxed with; `auto` takes the strongest that works on this machine"
    )
    http_allow_hosts: tuple[HostAndPort, ...] = Field((), description="host:port that http_get may reach though it is not public")

    model: ModelName = Field(
        "default",
        min_length=1,
        description="catalogue name, path of a GGUF file, or `PRESET/NAME` like `ollama/qwen3:4b`; `stub`, `none`",
    )
    other_models: tuple[ModelName, ...] = Field(
        (),
        max_length=16,
        description="further models to choose from, named like `model`; of the local ones one at a time is loaded",
    )
    model_url: str = Field("", description="base URL of an OpenAI-compatible server to use instead of a local model")
    model_name: str = Field("", description="model to ask for at `model_url`; its first one when empty")
    model_key: Token = Field(SecretStr(""), description="API key for `model_url`")
    model_tier: Literal["auto", "native", "chained", "single"] = Field(
        "auto",
        description="the loop that the model gets; `auto`: what the catalogue says, or what trying it at its first use shows",
    )
    model_context: int | None = Field(
        None,
        ge=512,
        le=1 << 24,
        description="context tokens of the model, at most what it was trained for; unset: for a local one as many as a quarter "
        "of the free memory holds, for others as many as the server says",
    )
    model_vision: bool | None = Field(
        None,
        description="whether images are shown to a model behind a URL; unset: as its server says",
    )
    model_preallocate: bool = Field(
        False,
        description="whether a local model's server takes the memory of its whole context at the start, not as it is needed",
    )
    model_template: File | None = Field(
        None, description="file with a chat template (Jinja) for the local model, in place of the one in its weights"
    )
    prompt_cache: NewFolder | None = Field(
        None, description="folder where a local model keeps evaluated prompts for later launches"
    )
    llama_server: ModelServer = Field("", description="path of a llama-server binary; else one on PATH, else the xllamacpp wheel")
    llama_server_arguments: ServerArguments = Field(
        (), max_length=32, description="what to add to the command of that binary, such as `--n-gpu-layers`, `99`"
    )
    model_sandbox: Literal["on", "off"] = Field(
        "on", description="whether a local model's server is sandboxed as programs are; `off` where the machine cannot"
    )

    time_zone: TimeZone = Field("UTC", description="zone in which the policy reads the time of day and the weekday, an IANA name")
    approval_seconds: Seconds = Field(APPROVAL_SECONDS, description="how long an approval request waits for an answer")
    snapshot_seconds: Seconds = Field(SNAPSHOT_SECONDS, description="how long a turn's snapshot is valid")
    grace_seconds: Seconds = Field(GRACE_SECONDS, description="how long a lost connection's turn can be resumed")
    sockets_per_session: int = Field(
        SOCKETS_PER_SESSION, ge=1, le=4096, description="how many sockets the pages of one session may have open at once"
    )
    enrolment_minutes: float = Field(ENROLMENT_SECONDS / 60, gt=0, le=DAY / 60, description="how long an enrolment link works")
    retain_days: int | None = Field(
        None,
        ge=0,
        le=36_500,
        description="days after which arguments and results of calls are erased; 0: as soon as a call has closed; unset: never",
    )
    retain_days_of: dict[RetainedTool, RetainedDays] = Field(
        {}, description="days for single tools in place of `retain_days`: `[retain_days_of]` with a line `TOOL = DAYS` for each"
    )
    drain_seconds: float = Field(
        DRAIN_SECONDS,
        ge=0,
        le=600,
        description="how long running calls may go on after the signal to stop, before they are cancelled",
    )
    push_key: File | None = Field(
        None,
        description="file with the key of web push, as `countersign push-key` makes it; unset: no device is told of questions",
    )
    push_contact: PushContact = Field(
        "", description="`mailto:` or `https:` address where push services reach you; the console's origin when empty"
    )
    push_allow_hosts: tuple[HostAndPort, ...] = Field((), description="host:port of push services whose address is not public")
    metrics_token: Token = Field(SecretStr(""), description="bearer token for /metrics from beyond loopback")
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    _places: Mapping[str, SettingPlace] = PrivateAttr(default_factory=dict[str, SettingPlace])

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what is given: `settings_reading` reads environment and file, so that it can say where a fault stands."""
        return (init_settings,)

    @field_validator("*", mode="before")
    @classmethod
    def _check_form(cls, value: object, info: ValidationInfo) -> object:
        """What no setting may be, although its type would take it."""
        if isinstance(value, bool) and info.field_name not in ("builtin_tools", "model_preallocate"):
            raise ValueError("it should not be true or false")
        if isinstance(value, str) and (unseen := re.search(r"[\x00-\x1f\x7f]", value)):
            raise ValueError(f"it should have no control characters, and has U+{ord(unseen[0]):04X}")
        return value

    @model_validator(mode="after")
    def _check_origins(self) -> Self:
        if bool(self.agent_origin) != bool(self.console_origin):
            raise ValueError("set both `agent_origin` and `console_origin`, or neither")
        if self.agent_origin and urlsplit(self.agent_origin).hostname == urlsplit(self.console_origin).hostname:
            raise ValueError("`agent_origin` and `console_origin` must have different hosts; cookies ignore ports")
        others = {urlsplit(origin).hostname for origin in self.origins(self.port)}
        if self.client_origin and urlsplit(self.client_origin).hostname in others:
            raise ValueError("`client_origin` must have a host of its own; cookies ignore ports")
        return self

    @model_validator(mode="after")
    def _check_folders(self) -> Self:
        # Not `Path.resolve`, which raises where links lead in a circle.
        state, workspace = Path(os.path.realpath(self.state)), Path(os.path.realpath(self.workspace))
        if overlap(state, workspace):
            raise ValueError("`state` and `workspace` must be two folders, neither within the other; tools work in the workspace")
        backups = Path(os.path.realpath(self.backups or self.state))
        if overlap(backups, workspace):
            raise ValueError("`backups` and `workspace` must be two folders, neither within the other; a backup holds a key")
        if self.push_key is not None and lies_in(Path(os.path.realpath(self.push_key)), workspace):
            raise ValueError("`push_key` must be outside of `workspace`; tools read what is in there")
        return self

    def remember_places(self, places: Mapping[str, SettingPlace]) -> None:
        """Where each of them was read, for whoever has to say so."""
        self._places = places

    def place_of(self, name: str) -> SettingPlace:
        """Where a setting comes from. What a program sets without saying where counts as an option of its command."""
        given = SettingPlace.COMMAND_LINE if name in self.model_fields_set else SettingPlace.DEFAULT
        return self._places.get(name, given)

    @property
    def policy_folder(self) -> Path:
        """The policy to use: the one that is set, or the shipped one."""
        return self.policy or installed_folder("policy")

    @property
    def web_folder(self) -> Path:
        """The built web apps to serve: the ones that are set, or the shipped ones."""
        return self.web or shipped_web()

    def origins(self, port: int) -> tuple[str, str]:
        """Agent and console origin when listening on `port`."""
        if self.agent_origin:
            return self.agent_origin, self.console_origin
        agent, console = ("agent.localhost", "console.localhost") if self.names == "subdomains" else ("127.0.0.1", "localhost")
        return f"http://{agent}:{port}", f"http://{console}:{port}"

    def origin_of_clients(self, port: int) -> str:
        """Where MCP clients connect when listening on `port`; empty where that is nowhere."""
        if self.client_origin or self.agent_origin:
            return self.client_origin
        return f"http://{'localhost' if self.names == 'subdomains' else 'mcp.localhost'}:{port}"
