"""The services of skills that reach calendars, the phone and OpenClaw's configuration, by the settings alone."""

from functools import partial
from zoneinfo import ZoneInfo

from activities.skills.services.calendar_service import CalendarCollection, CalendarFolder, CalendarService
from activities.skills.services.identity_service import IdentityService
from activities.skills.services.voice_service import VoiceService
from clients.platform.key_reference import read_api_key
from clients.skills.caldav import CalDav
from clients.skills.voice_app import VoiceApp
from config.settings import Settings
from stores.skills.services.calendar_files import CalendarFiles
from stores.skills.services.identity_links import IdentityLinks


def calendar_service(settings: Settings) -> CalendarService:
    """The operator's calendars: a CalDAV collection where one is configured, else files."""
    zone = ZoneInfo(settings.timezone)
    if settings.calendar_url is not None:
        reference = settings.calendar_password_ref
        password = partial(read_api_key, reference) if reference is not None else None
        return CalendarService(
            CalendarCollection(CalDav(settings.calendar_url, settings.calendar_user, password)), zone
        )
    primary = settings.calendar_file or settings.data_dir / "calendars" / "primary.ics"
    return CalendarService(CalendarFolder(CalendarFiles(primary.expanduser().absolute())), zone)


def voice_service(settings: Settings) -> VoiceService:
    """Phone calls by the configured voice app; none is placed without one."""
    return VoiceService(VoiceApp(settings.voice_app_url) if settings.voice_app_url is not None else None)


def identity_service(settings: Settings) -> IdentityService:
    """The identity links in OpenClaw's configuration."""
    path = settings.openclaw_config or settings.data_dir / "openclaw.json"
    return IdentityService(IdentityLinks(path.expanduser().absolute()))
