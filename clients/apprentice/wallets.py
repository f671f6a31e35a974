"""Typed API calls: wallets of the local ledger, for admins."""

from clients.apprentice.transport import ApiRoutes, path_part
from contracts.skills.wallets import CreateWalletRequest, FundWalletRequest, Wallet, WalletListResponse

_WALLETS = "/api/wallets"


class WalletApi(ApiRoutes):
    """Make, fund and read wallets."""

    def list(self, page: int = 1, page_size: int = 25) -> WalletListResponse:
        """List them by address."""
        return self._http.get(_WALLETS, WalletListResponse, page=page, page_size=page_size)

    def create(self, request: CreateWalletRequest) -> Wallet:
        """Make one."""
        return self._http.write("POST", _WALLETS, Wallet, request)

    def show(self, address: str) -> Wallet:
        """Read one."""
        return self._http.get(f"{_WALLETS}/{path_part(address)}", Wallet)

    def fund(self, address: str, request: FundWalletRequest) -> Wallet:
        """Put an amount into one."""
        return self._http.write("POST", f"{_WALLETS}/{path_part(address)}/fund", Wallet, request)
