"""Hosts that matter: well-known vendors of installers, places that take anything from anybody."""

import re
from urllib.parse import urlsplit

_VENDOR_NAMES = (
    "sh.rustup.rs rustup.rs astral.sh bun.sh deno.land deno.com get.docker.com docker.com brew.sh ollama.com ollama.ai "
    "install.python-poetry.org pdm-project.org get.pnpm.io nodejs.org deb.nodesource.com rpm.nodesource.com "
    "cli.github.com get.helm.sh get.k3s.io sdk.cloud.google.com dl.google.com packages.microsoft.com aka.ms dot.net "
    "claude.ai cursor.com get.volta.sh volta.sh fnm.vercel.app mise.run mise.jdx.dev starship.rs nixos.org "
    "install.determinate.systems get.sdkman.io get-ghcup.haskell.org raw.githubusercontent.com/homebrew "
    "raw.githubusercontent.com/nvm-sh raw.githubusercontent.com/creationix raw.githubusercontent.com/helm "
    "raw.githubusercontent.com/rbenv raw.githubusercontent.com/ohmyzsh bootstrap.pypa.io pyenv.run fly.io "
    "cli.doppler.com releases.hashicorp.com awscli.amazonaws.com libreoffice.org python.org git-scm.com "
    "obsidian.md ffmpeg.org pandoc.org microsoft.com apple.com mozilla.org tailscale.com wasmtime.dev "
    "get.jetify.com devenv.sh just.systems sh.uv.astral.sh rclone.org code.visualstudio.com postgresql.org"
)
_VENDORS = frozenset(_VENDOR_NAMES.split())
"""Vendors whose installers are commonly run by pipe: worth a warning, as every download, and no block."""

_DROPS = re.compile(
    r"webhook\.site|requestbin|requestcatcher|pipedream\.net|discord(?:app)?\.com/api/webhooks|api\.telegram\.org/bot|"
    r"ngrok(?:-free)?\.(?:io|app|dev)|trycloudflare\.com|localhost\.run|serveo\.net|loca\.lt|"
    r"\boast\.(?:fun|me|pro|live|site|online)|interact\.sh|burpcollaborator|oastify\.com|beeceptor\.com|hookb\.in|"
    r"transfer\.sh|file\.io|0x0\.st|termbin|pastebin\.com|hastebin|script\.google\.com/macros|hooks\.zapier\.com|"
    r"hook\.\w+\.make\.com|canarytokens|dnslog|webhook\.cool|anonfiles|gofile\.io",
    re.IGNORECASE,
)
"""Collectors: who reads there is not known, and the account costs nothing."""

SHORTENED = (
    r"https?://(?:www\.)?(?:bit\.ly|tinyurl\.com|t\.co|goo\.gl|is\.gd|v\.gd|ow\.ly|cutt\.ly|rb\.gy|shorturl\.at|t\.ly|"
    r"rebrand\.ly|tiny\.cc|buff\.ly|s\.id|qr\.ae|bl\.ink|short\.io|dub\.sh)/"
)
"""An address behind which another is kept: where it leads is seen by nobody, and can be changed."""

_ADDRESS = re.compile(r"https?://[^\s\"'`<>)|]+", re.IGNORECASE)


def addresses(text: str) -> list[str]:
    """The web addresses in a text."""
    return _ADDRESS.findall(text)


def well_known(text: str) -> bool:
    """Whether the text has addresses and all are https of well-known vendors."""
    found = addresses(text)
    return bool(found) and all(_is_vendors(one) for one in found)


def collector(text: str) -> bool:
    """Whether the text names a place that collects whatever is sent to it."""
    return _DROPS.search(text) is not None


def _is_vendors(address: str) -> bool:
    try:
        parts = urlsplit(address)
        host = (parts.hostname or "").lower()
        plain = parts.scheme == "https" and parts.username is None
    except ValueError:
        return False
    owner = f"{host}/{parts.path.lstrip('/').split('/', 1)[0].lower()}"
    return plain and (owner in _VENDORS or any(host == one or host.endswith(f".{one}") for one in _VENDORS))
