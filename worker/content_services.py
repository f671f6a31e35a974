"""The services of skills that find, write, judge and publish content, and that register agents, by the settings."""

from collections.abc import Mapping
from functools import partial

from activities.skills.services.content_models import endpoints
from activities.skills.services.directory_service import DirectoryService
from activities.skills.services.feeds_service import FeedsService
from activities.skills.services.media_service import MediaService
from activities.skills.services.model_service import ModelService
from activities.skills.services.offered import Offering
from activities.skills.services.publisher_service import PublisherService
from clients.platform.key_reference import read_api_key
from clients.skills.directory import OpenClawDirectory
from clients.skills.feeds import FeedClient
from clients.skills.media_tools import MediaTools
from clients.skills.publisher import HttpPublisher
from config.settings import Settings
from contracts.skills.manifest import BrokerService
from stores.platform.projection.atomic_files import FileTree
from stores.platform.secrets.store import SecretStore
from stores.skills.services.agent_keys import AgentKeys
from stores.skills.services.approvals import Approvals
from stores.skills.services.content_cards import ContentCards
from stores.skills.services.feed_requests import FeedRequests
from stores.skills.services.publications import Publications
from worker.operator_channel import gateway_token
from worker.resources import WorkerResources
from worker.secrets import secret_store


def content_services(shared: WorkerResources) -> Mapping[str, Offering]:
    """The services by the name that a manifest asks for."""
    settings, database = shared.settings, shared.database
    secrets = secret_store(settings, database)
    publications = Publications(database)
    models = endpoints(
        settings.skill_models,
        partial(_model_key, settings.skill_model_key_refs),
        settings.model_max_output_tokens,
    )
    requests = FeedRequests(database, per_hour=settings.trend_requests_per_hour)
    outbox = FileTree(settings.data_dir / "outbox", file_mode=0o600, folder_mode=0o700)
    return {
        BrokerService.FEEDS.value: FeedsService(settings.trend_sources, requests, FeedClient()),
        BrokerService.MODEL.value: ModelService(models, publications.posts),
        BrokerService.MEDIA.value: MediaService(
            MediaTools(settings.media_servers), ContentCards(database), settings.api_url
        ),
        BrokerService.PUBLISHER.value: PublisherService(
            Approvals(database, secrets), publications, _publisher(settings), outbox
        ),
        BrokerService.DIRECTORY.value: _directory(shared, secrets),
    }


def _publisher(settings: Settings) -> HttpPublisher | None:
    if settings.publisher_url is None:
        return None
    reference = settings.publisher_key_ref
    return HttpPublisher(
        settings.publisher_url, partial(read_api_key, reference) if reference is not None else lambda: None
    )


def _directory(shared: WorkerResources, secrets: SecretStore) -> DirectoryService:
    settings = shared.settings
    directory = None
    if settings.openclaw_gateway_url is not None:
        directory = OpenClawDirectory(settings.openclaw_gateway_url, partial(gateway_token, settings))
    return DirectoryService(AgentKeys(shared.database, secrets), directory)


def _model_key(references: Mapping[str, str], name: str) -> str | None:
    reference = references.get(name)
    return read_api_key(reference) if reference is not None else None
