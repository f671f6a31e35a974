"""Verbs that tools are named by: those that read, those that change something, those that are things as well.

One list each, so that a verb is added in one place. A verb that is on none counts as unknown, never as a read.
"""

from collections.abc import Mapping

from contracts.learning.observation import ToolEffect


def words_of(text: str) -> frozenset[str]:
    """The words of a text, each once."""
    return frozenset(text.split())


READS = words_of(
    "browse count describe exists explain fetch find get grep inspect list lookup peek ping preview read retrieve "
    "search show stat status tail view whoami"
)
"""Verbs of names that read and do nothing else. ``query``, ``resolve``, ``check``, ``export`` and ``download`` are
none: they run what they are given, settle something, or put a file somewhere."""

WRITES: Mapping[ToolEffect, frozenset[str]] = {
    ToolEffect.DELETE: words_of(
        "clean cleanup clear decommission del delete deprovision destroy discard drop erase evict expunge flush kill "
        "nuke obliterate prune purge remove reset revoke rm rmdir shred shutdown teardown terminate trash truncate "
        "undeploy uninstall unlink unpublish unset wipe"
    ),
    ToolEffect.SEND: words_of(
        "broadcast buy dispatch donate forward notify pay publish remit respond sell send submit transfer tweet"
    ),
    ToolEffect.CREATE: words_of(
        "add create deploy generate import insert install make mint mkdir persist provision register "
        "save spawn subscribe"
    ),
    ToolEffect.UPDATE: words_of(
        "accept acknowledge activate allocate append apply approve assign authorize ban cancel close complete "
        "configure confirm cordon deactivate decline decrement demote deny disable disconnect dismiss drain edit "
        "enable enqueue eval evaluate exec execute grant impersonate increment inject invoke kick login logout "
        "manage mark migrate modify move mutate overwrite patch pause perform promote put reassign rebase reboot "
        "rebuild reconfigure recreate reject rename reopen reorder replace replay rerun resize restart restore "
        "resume retry rollback rotate scale set snooze star subscribe suspend swap toggle transition trigger unban "
        "unblock unlock unmute unpin unstar unsubscribe untag update upgrade upsert write"
    ),
}
"""Verbs that change something wherever they stand in a name, the gravest first."""

ALSO_NOUNS: Mapping[str, ToolEffect] = {
    "archive": ToolEffect.DELETE,
    "backup": ToolEffect.CREATE,
    "bet": ToolEffect.SEND,
    "bid": ToolEffect.SEND,
    "block": ToolEffect.UPDATE,
    "book": ToolEffect.CREATE,
    "build": ToolEffect.CREATE,
    "call": ToolEffect.UPDATE,
    "change": ToolEffect.UPDATE,
    "charge": ToolEffect.SEND,
    "checkout": ToolEffect.UPDATE,
    "click": ToolEffect.UPDATE,
    "clone": ToolEffect.CREATE,
    "comment": ToolEffect.SEND,
    "commit": ToolEffect.UPDATE,
    "connect": ToolEffect.UPDATE,
    "copy": ToolEffect.CREATE,
    "deposit": ToolEffect.SEND,
    "draft": ToolEffect.CREATE,
    "duplicate": ToolEffect.CREATE,
    "email": ToolEffect.SEND,
    "expire": ToolEffect.DELETE,
    "fill": ToolEffect.UPDATE,
    "fork": ToolEffect.CREATE,
    "invite": ToolEffect.SEND,
    "invoice": ToolEffect.SEND,
    "launch": ToolEffect.UPDATE,
    "link": ToolEffect.UPDATE,
    "lock": ToolEffect.UPDATE,
    "mail": ToolEffect.SEND,
    "merge": ToolEffect.UPDATE,
    "message": ToolEffect.SEND,
    "mute": ToolEffect.UPDATE,
    "navigate": ToolEffect.UPDATE,
    "new": ToolEffect.CREATE,
    "order": ToolEffect.SEND,
    "pin": ToolEffect.UPDATE,
    "post": ToolEffect.SEND,
    "press": ToolEffect.UPDATE,
    "purchase": ToolEffect.SEND,
    "push": ToolEffect.SEND,
    "record": ToolEffect.CREATE,
    "refund": ToolEffect.SEND,
    "release": ToolEffect.SEND,
    "reply": ToolEffect.SEND,
    "run": ToolEffect.UPDATE,
    "schedule": ToolEffect.CREATE,
    "share": ToolEffect.SEND,
    "start": ToolEffect.UPDATE,
    "stop": ToolEffect.UPDATE,
    "store": ToolEffect.CREATE,
    "sync": ToolEffect.UPDATE,
    "tag": ToolEffect.UPDATE,
    "trade": ToolEffect.SEND,
    "upload": ToolEffect.SEND,
    "withdraw": ToolEffect.SEND,
}
"""Verbs that are things, too: after a reading verb they are what is read."""

AMBIGUOUS_IN_PROSE = frozenset(ALSO_NOUNS) | words_of(
    "clean clear close complete evaluate flush forward import kick kill login logout mark move perform put "
    "reset restart restore scale set star swap transfer transition trigger trash update upgrade"
)
"""Verbs that a sentence may begin with as a noun or an adjective: "Complete list of …", "Order history"."""

HARMLESS_LEADS = words_of(
    "access aggregate analyse analyze answer browse calculate check compare compute convert count decode describe "
    "detect determine diff discover display enumerate estimate examine explain explore expose extract fetch filter "
    "evaluate find format gather generate get give grab group help identify inspect introspect list locate look "
    "lookup map match obtain "
    "offer open paginate parse peek perform ping preview print provide pull query rank read recommend report resolve "
    "retrieve return scan score search say see select show simulate stream suggest summarise summarize tail tell "
    "test track translate validate verify view wait walk"
)
"""Verbs that descriptions of reads begin with."""
