"""Settings of every process: environment variables over one TOML file over defaults.

A setting ``x`` is read from ``APPRENTICE_X``. The file is the one ``APPRENTICE_CONFIG`` names, else
``./apprentice.toml``, else ``<data_dir>/apprentice.toml``. Where a value would be unsafe or contradict
another one the settings are refused as a whole, before anything is opened.
"""

import os
from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr, StringConstraints, ValidationError, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from config.origins import (
    SettingsError,
    SettingView,
    explain,
    find_config_file,
    read_config_file,
    setting_views,
    variable_of,
)
from config.outside_settings import open_variables
from config.safety import (
    checked_key_reference,
    checked_model_address,
    checked_origin,
    checked_time_zone,
    find_contradiction,
    find_half_model,
    find_unsafe,
    with_password,
)
from config.skill_settings import SkillSettings
from config.value_types import AdapterNames, Duration, Names
from contracts.learning.session import (
    ARM_TIMEOUT,
    CAPTURE_TIMEOUT,
    MODEL_TIMEOUT,
    QUESTION_DEADLINE,
    REPLAY_BUDGET,
)
from contracts.learning.starting_state import MAX_FILE_BYTES, MAX_FILES, MAX_TOTAL_BYTES, InputLimits


class McpSettings(BaseSettings):
    """What ``Settings`` has for tool servers, approvals and secrets."""

    ask_first_expiry: Duration = Field(
        default=timedelta(minutes=30),
        ge=timedelta(seconds=10),
        le=timedelta(days=30),
        description="How long a tool call waits for an approval.",
    )
    oauth_state_lifetime: Duration = Field(
        default=timedelta(minutes=10),
        ge=timedelta(minutes=1),
        le=timedelta(hours=1),
        description="From the start of a sign-in to its callback.",
    )
    open_calls_per_user: int = Field(
        default=2_000, ge=1, le=100_000, description="Tool calls of one user that may wait or run at once."
    )
    mcp_probe_every: Duration = Field(
        default=timedelta(minutes=5),
        ge=timedelta(seconds=30),
        le=timedelta(days=1),
        description="Between probes of a tool server.",
    )
    mcp_conversation_idle: Duration = Field(
        default=timedelta(minutes=5),
        ge=timedelta(seconds=1),
        le=timedelta(hours=1),
        description="How long a local tool server, or a session with a tool server, is kept for the next call.",
    )
    mcp_allow_private_addresses: bool = Field(
        default=False,
        description="Let tool servers and their sign-in be on this machine or network, and without TLS.",
    )
    mcp_local_programs: Names = Field(
        default=(),
        description="Programs that may be registered as local tool servers, with commas between them. Who registers "
        "one chooses its arguments: where they are not confined, name no interpreter, shell or package runner.",
    )
    mcp_local_environment: Names = Field(
        default=(),
        description="Variables of the worker that local tool servers may be given, with commas between them.",
    )
    ask_first_webhook_url: str | None = Field(
        default=None, description="Is told of every call that waits for an approval."
    )
    ask_first_webhook_secret_ref: str | None = Field(
        default=None,
        description="Where the key is that signs what the webhook is told: env:NAME or file:PATH.",
    )
    secret_key_source: Literal["auto", "keyring", "file"] = Field(
        default="auto", description="Where the key of the secret store is kept."
    )
    secret_key_service: Annotated[str, StringConstraints(min_length=1, max_length=120)] = Field(
        default="apprentice", description="The name of the key's entry in the system's keyring."
    )


ENV_PREFIX = "APPRENTICE_"
_CLUSTER_VARIABLES = ("TEMPORAL_ADDRESS", "TEMPORAL_PROFILE", "TEMPORAL_CONFIG_FILE")

Port = Annotated[int, Field(ge=0, le=65_535)]
"""A TCP port; 0 asks for a free one (``apprentice up`` resolves it before the parts start)."""


def _under(name: str) -> Any:
    return Field(default_factory=lambda data: data["data_dir"] / name)


def _default_database_url(data: Mapping[str, Any]) -> str:
    return f"sqlite:///{data['data_dir'] / 'apprentice.db'}"


class Settings(McpSettings, SkillSettings):
    """The effective settings, frozen. Programs build them with ``load_settings``, which explains refusals.

    Raises:
        ValidationError: a value is wrong or unsafe (``load_settings`` turns it into ``SettingsError``).
    """

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, frozen=True, extra="forbid", validate_default=True, env_ignore_empty=True
    )

    data_dir: Path = Field(default=Path("~/.apprentice"), description="Everything this installation keeps.")
    database_url: str = Field(
        default_factory=_default_database_url, repr=False, description="SQLite or PostgreSQL."
    )
    database_password_file: Path | None = Field(
        default=None, description="A file whose content is the password of database_url."
    )
    memory_root: Path = _under("ELNOR_MEMORY")
    workspace: Path = _under("openclaw-workspace")

    api_host: str = "127.0.0.1"
    api_port: Port = 8040
    public_url: str | None = Field(default=None, description="Where clients reach the API.")
    allow_insecure_bind: bool = Field(
        default=False, description="Accept an api_host other machines can reach (put TLS in front of it)."
    )

    task_queue: Annotated[str, StringConstraints(min_length=1, max_length=200)] = "apprentice"
    namespace: Annotated[str, StringConstraints(min_length=1, max_length=200)] = "default"
    temporal_port: Port = Field(default=7233, description="Of the embedded server.")
    temporal_ui_port: Port = Field(default=8233, description="Of the embedded server's web pages.")
    temporal_ui_url: str | None = Field(default=None, description="Where people reach the Temporal UI.")
    temporal_ui_upstream: str | None = Field(
        default=None,
        description="A Temporal UI that the API serves at temporal_ui_port, with its own checks.",
    )
    payload_encryption: bool = Field(default=False, description="Encrypt what is sent through Temporal.")

    categories_per_user: int = Field(default=200, ge=1, le=10_000)
    deployed_on: date | None = Field(
        default=None, description="Former routes lead on for six months from this day; without one, always."
    )

    agent_display_name: Annotated[str, StringConstraints(min_length=1, max_length=80)] | None = None
    timezone: str = "UTC"
    nightly_at: str = Field(default="03:00", pattern=r"^([01]\d|2[0-3]):[0-5]\d$", description="In timezone.")
    reprobe_every: Duration = Field(
        default=timedelta(hours=1),
        ge=timedelta(minutes=1),
        le=timedelta(hours=3),
        description="Between rechecks of ailing capabilities.",
    )
    smoke_test_after: Duration = Field(
        default=timedelta(seconds=5),
        ge=timedelta(0),
        le=timedelta(hours=1),
        description="From an install to the first run of what was installed.",
    )
    arm_timeout: Duration = Field(default=ARM_TIMEOUT, description="From armed to the first event.")
    capture_timeout: Duration = Field(default=CAPTURE_TIMEOUT, description="Of one capture.")
    question_deadline: Duration = Field(default=QUESTION_DEADLINE, description="For answers to questions.")
    disabled_adapters: AdapterNames = Field(
        default=(), description="Observation adapters whose events are refused, with commas between them."
    )

    find_by_meaning: bool = Field(
        default=True, description="Let a sentence model have a say in which ability fits a request."
    )
    find_by_model: bool = Field(
        default=False, description="Let the language model decide what may fit; needs model_base_url."
    )
    find_model_timeout: Duration = Field(
        default=timedelta(seconds=5), description="For that question, which a lookup waits for."
    )

    record_inputs: bool = Field(
        default=True, description="Keep what a demonstration's folder held before the first command."
    )
    record_inputs_files: int = Field(
        default=MAX_FILES, ge=0, le=MAX_FILES, description="Files, folders and links that are listed of it."
    )
    record_inputs_file_bytes: int = Field(
        default=MAX_FILE_BYTES, ge=0, le=MAX_TOTAL_BYTES, description="The largest file that is kept of it."
    )
    record_inputs_total_bytes: int = Field(
        default=MAX_TOTAL_BYTES, ge=0, le=4 * MAX_TOTAL_BYTES, description="All that is kept of it."
    )

    replay_budget: Duration = Field(
        default=REPLAY_BUDGET,
        ge=timedelta(seconds=5),
        le=timedelta(minutes=3),
        description="For all replays of a demonstration together.",
    )

    mining_max_variation: float = Field(
        default=0.4, ge=0, le=1, description="How differently a task may have been done to be mined."
    )
    mining_min_coverage: float = Field(
        default=0.6, ge=0, le=1, description="The share of its steps that must have a visible outcome."
    )

    model_base_url: str | None = Field(
        default=None,
        description="An OpenAI-compatible API for drafts and practice, such as https://host/v1; off without.",
    )
    model_name: Annotated[str, StringConstraints(min_length=1, max_length=60)] | None = None
    model_api_key_ref: str | None = Field(
        default=None, description="Where the key is, never the key: env:NAME, or file:PATH (mode 0600)."
    )
    model_timeout: Duration = Field(
        default=MODEL_TIMEOUT, description="For one question to the model, retry included."
    )
    model_max_output_tokens: int = Field(default=4096, ge=256, le=32_768)

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    log_format: Literal["auto", "json", "console"] = "auto"

    _given: frozenset[str] = PrivateAttr(default=frozenset())

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        self._given = frozenset(values)

    @property
    def given(self) -> frozenset[str]:
        """The names that were passed in code or on the command line, which win over every other source."""
        return self._given

    @property
    def input_limits(self) -> InputLimits:
        """How much of a demonstration's folder is kept as its starting state."""
        return InputLimits(
            max_files=self.record_inputs_files,
            max_file_bytes=self.record_inputs_file_bytes,
            max_total_bytes=self.record_inputs_total_bytes,
        )

    @property
    def local_api_url(self) -> str:
        """Where this machine reaches the API."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.api_host, self.api_host)  # noqa: S104
        return f"http://[{host}]:{self.api_port}" if ":" in host else f"http://{host}:{self.api_port}"

    @property
    def api_url(self) -> str:
        """Where clients reach the API, without a slash at the end."""
        return self.public_url or self.local_api_url

    @property
    def console_url(self) -> str:
        """Where people open the console."""
        return f"{self.api_url}/console"

    @property
    def temporal_dir(self) -> Path:
        """What the embedded Temporal server keeps."""
        return self.data_dir / "temporal"

    def references(self) -> tuple[str, ...]:
        """Where every key is that the settings name: ``env:NAME`` or ``file:PATH``."""
        named = (getattr(self, name) for name in type(self).model_fields if name.endswith("_ref"))
        return tuple(reference for reference in named if isinstance(reference, str))

    @property
    def log_dir(self) -> Path:
        """The log files of the parts that ``apprentice up`` runs."""
        return self.data_dir / "logs"

    @field_validator("data_dir", "memory_root", "workspace", "database_password_file")
    @classmethod
    def _absolute(cls, path: Path | None) -> Path | None:
        return None if path is None else path.expanduser().absolute()

    @field_validator("log_level", mode="before")
    @classmethod
    def _upper(cls, value: object) -> object:
        return value.upper() if isinstance(value, str) else value

    @field_validator("public_url", "temporal_ui_url", "temporal_ui_upstream")
    @classmethod
    def _origin(cls, value: str | None) -> str | None:
        return checked_origin(value)

    @field_validator("model_base_url")
    @classmethod
    def _model_address(cls, value: str | None) -> str | None:
        return checked_model_address(value)

    @field_validator("model_api_key_ref")
    @classmethod
    def _key_reference(cls, value: str | None) -> str | None:
        return checked_key_reference(value)

    @field_validator("timezone")
    @classmethod
    def _time_zone(cls, value: str) -> str:
        return checked_time_zone(value)

    @model_validator(mode="after")
    def _refuse_unsafe(self) -> "Settings":
        problem = find_contradiction(self) or find_unsafe(self) or find_half_model(self)
        if problem:
            raise ValueError(problem)
        if self.database_password_file:
            # Frozen from here on; the password joins the URL in memory only.
            object.__setattr__(
                self, "database_url", with_password(self.database_url, self.database_password_file)
            )
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments over environment over the file; neither a dotenv file nor a secrets folder is read."""
        file = find_config_file(init_settings(), os.environ)
        toml = TomlConfigSettingsSource(settings_cls, toml_file=file)
        return init_settings, env_settings, toml, InitSettingsSource(settings_cls, open_variables())


def load_settings(**given: Any) -> Settings:
    """The effective settings; ``given`` (from the command line) wins over every other source.

    Raises:
        SettingsError: names each wrong setting, where its value came from and what to write instead.
    """
    given = {name: value for name, value in given.items() if value is not None}
    file = find_config_file(given, os.environ)
    from_file = read_config_file(file)
    try:
        return Settings(**given)
    except ValidationError as error:
        raise SettingsError(explain(error, Settings, given, os.environ, file, from_file)) from None


def prepare_data_dir(settings: Settings) -> None:
    """Makes the folders of an installation, readable by their owner only. Safe to repeat.

    Raises:
        SettingsError: one of them cannot be made.
    """
    for folder in (settings.data_dir, settings.log_dir, settings.temporal_dir):
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise SettingsError(
                f"The folder {folder} cannot be made: {error.strerror or error}. Name a folder that can be, as "
                f"APPRENTICE_DATA_DIR or data_dir; `apprentice config show` says where the present one comes from."
            ) from None


def as_environment(settings: Settings) -> dict[str, str]:
    """The effective settings as environment variables: a child process given them has the same settings."""
    values = settings.model_dump(mode="json", exclude_none=True)
    return {
        variable_of(name): str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in values.items()
    }


def describe(settings: Settings) -> list[SettingView]:
    """Every effective setting with its value (secrets masked) and where it came from."""
    return setting_views(settings, settings.given)


def names_a_cluster(environment: Mapping[str, str]) -> bool:
    """Whether the environment points at a Temporal server of its own, so that none is embedded."""
    return any(environment.get(name) for name in _CLUSTER_VARIABLES)


def temporal_connect_kwargs(settings: Settings) -> dict[str, Any]:
    """The connection arguments of ``temporalio.client.Client.connect``.

    ``TEMPORAL_ADDRESS`` or a profile (with all that ``temporalio.envconfig`` reads: TLS, API key, namespace)
    wins; otherwise it is the embedded server on the loopback interface.
    """
    if not names_a_cluster(os.environ):
        return {"target_host": f"127.0.0.1:{settings.temporal_port}", "namespace": settings.namespace}
    # Imported here so that programs which never connect start without the SDK.
    from temporalio.envconfig import ClientConfig

    arguments = dict(ClientConfig.load_client_connect_config())
    return {"target_host": "127.0.0.1:7233", "namespace": settings.namespace} | arguments
