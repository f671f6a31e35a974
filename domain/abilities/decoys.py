"""Abilities of other fields that every draft's trigger tests run against.

A draft has to be told apart from what an agent may well have besides it, also while its owner has nothing
else installed. The decoys are worded in terms of their own field: their phrases have few function words, so
that a sentence does not match one by "the" and "of" alone.
"""

from functools import cache

from contracts.abilities.availability import AbilityAvailabilityEntry, AbilitySource
from contracts.learning.proposal import InstallLane

DECOY_PREFIX = "decoy."
"""What the ids of all decoys start with; no learned ability's does."""

_DECOYS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    (
        "restaurant-booking",
        "Restaurant booking",
        "dining",
        ("book dinner table", "reserve restaurant tonight", "find vegan bistro nearby"),
    ),
    (
        "greenhouse-watering",
        "Greenhouse watering",
        "home",
        ("water tomato plants", "greenhouse humidity check", "start drip irrigation"),
    ),
    (
        "flight-checkin",
        "Flight check-in",
        "travel",
        ("check in online flight", "choose aisle seat", "boarding pass please"),
    ),
    (
        "podcast-loudness",
        "Podcast loudness",
        "audio",
        ("normalise podcast episode", "loudness target -16 lufs", "remove microphone hum"),
    ),
    (
        "chess-coach",
        "Chess coach",
        "games",
        ("analyse chess game", "explain sicilian opening", "daily checkmate puzzle"),
    ),
    (
        "invoice-reminder",
        "Invoice reminder",
        "finance",
        ("chase unpaid invoice", "remind late customer", "overdue payment letter"),
    ),
    (
        "blood-pressure-diary",
        "Blood pressure diary",
        "health",
        ("log blood pressure", "weekly pulse chart", "systolic trend"),
    ),
    (
        "citation-lookup",
        "Citation lookup",
        "legal",
        ("find appellate citation", "shepardize case", "overruled precedent check"),
    ),
    (
        "parcel-tracking",
        "Parcel tracking",
        "shopping",
        ("where is parcel", "track courier delivery", "missed package redelivery"),
    ),
    (
        "lesson-planner",
        "Lesson planner",
        "teaching",
        ("plan algebra lesson", "worksheet for pupils", "quiz on fractions"),
    ),
    (
        "incident-paging",
        "Incident paging",
        "operations",
        ("page on-call engineer", "open severity one incident", "acknowledge pager alert"),
    ),
    (
        "holiday-request",
        "Holiday request",
        "people",
        ("request annual leave", "remaining vacation days", "absence calendar entry"),
    ),
    (
        "recipe-scaling",
        "Recipe scaling",
        "cooking",
        ("scale recipe servings", "convert cups into grams", "oven temperature celsius"),
    ),
    (
        "crm-lead",
        "Sales lead",
        "sales",
        ("add sales lead", "qualify prospect company", "pipeline forecast quarter"),
    ),
    (
        "photo-colour",
        "Photo colour grading",
        "imaging",
        ("grade wedding photo", "match skin tones", "apply kodak preset"),
    ),
    (
        "subtitle-translation",
        "Subtitle translation",
        "language",
        ("translate film subtitles", "spanish captions timing", "dub trailer voice"),
    ),
    (
        "meeting-minutes",
        "Meeting minutes",
        "office",
        ("minutes from board meeting", "list action items", "who attended standup"),
    ),
    (
        "thermostat",
        "Thermostat",
        "home",
        ("warmer living room", "heating schedule weekend", "lower bedroom thermostat"),
    ),
    (
        "tax-return",
        "Tax return",
        "finance",
        ("prepare tax return", "deductible home office", "quarterly vat statement"),
    ),
    (
        "genealogy",
        "Family tree research",
        "research",
        ("trace family tree", "parish birth record", "great-grandmother maiden name"),
    ),
)


@cache
def decoys() -> tuple[AbilityAvailabilityEntry, ...]:
    """Twenty global, usable abilities of other fields, in the lane that everybody in a workspace sees."""
    return tuple(
        AbilityAvailabilityEntry(
            ability_id=f"{DECOY_PREFIX}{name}",
            owner_user_id="decoys",
            title=title,
            family=family,
            source=AbilitySource.NATIVE,
            skill_slug=name,
            install_lane=InstallLane.APPROVED_WORKSPACE,
            enabled=True,
            usable_now=True,
            trigger_phrases=phrases,
        )
        for name, title, family, phrases in _DECOYS
    )
