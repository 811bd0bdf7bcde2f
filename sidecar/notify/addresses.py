"""Where we may send requests to: origins that are listed, and never a private network by accident.

A resume address comes from an agent. Its origin must be listed in the settings; and whatever its
name resolves to, the connection goes to an address that was looked at just before: public, or in a
network that the settings name.
"""

import asyncio
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, Self, cast
from urllib.parse import urlsplit

import httpcore

from ledger.errors import OutliveError

URL_MOST: Final = 2_000
_PORTS: Final = {"https": 443, "http": 80}
_NAT64: Final = IPv6Network("64:ff9b::/96")
"""IPv4 inside IPv6, as gateways translate it (RFC 6052)."""

Address = IPv4Address | IPv6Address
Origin = tuple[str, str, int]


class AddressRefused(OutliveError):
    """An address that nothing is sent to; says which setting would allow it."""

    code = "address_refused"


@dataclass(frozen=True, slots=True)
class Addresses:
    """The origins and private networks that requests may go to."""

    origins: frozenset[Origin]
    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def of(cls, hosts: Iterable[str], networks: Iterable[str] = ()) -> Self:
        """From settings: `agents.example.com` means HTTPS at port 443; else name the whole origin.

        Raises:
            ValueError: One of them makes no sense.
        """
        return cls(
            frozenset(_origin(host if "://" in host else f"https://{host}") for host in hosts),
            tuple(ip_network(network) for network in networks),
        )

    def check(self, url: str) -> None:
        """Refuse what is not listed.

        Raises:
            AddressRefused: Nothing was sent or stored.
        """
        try:
            listed = len(url) <= URL_MOST and url.isprintable() and _origin(url) in self.origins
        except ValueError:
            listed = False
        if not listed:
            raise AddressRefused(
                "this resume address is not allowed here; list its origin in OUTLIVE_RESUME_HOSTS, "
                "or leave it out and claim the run by asking"
            )

    def allows(self, address: Address) -> bool:
        """Whether a connection may go there."""
        true = _true(address)
        if any(true in network for network in self.networks if network.version == true.version):
            return True
        return true.is_global and not true.is_multicast


class CheckedBackend(httpcore.AsyncNetworkBackend):
    """Connects to addresses that were looked at, and to no others."""

    def __init__(self, addresses: Addresses) -> None:
        self._addresses = addresses
        # What the type checker sees is httpcore's stand-in for an installation without anyio.
        self._inner = cast("httpcore.AsyncNetworkBackend", httpcore.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  httpcore's own signature
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Resolve, look, connect to the very address that was looked at.

        Raises:
            AddressRefused: The name leads into a network that is not allowed.
        """
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        allowed = [
            one for one in (ip_address(i[4][0]) for i in found) if self._addresses.allows(one)
        ]
        if not allowed:
            raise AddressRefused(
                f"{host} leads into a private network; name it in OUTLIVE_RESUME_NETWORKS if it "
                "may be called"
            )
        return await self._inner.connect_tcp(
            str(allowed[0]), port, timeout, local_address, socket_options
        )

    async def sleep(self, seconds: float) -> None:
        """Pause between tries of a connection."""
        await self._inner.sleep(seconds)


def _origin(url: str) -> Origin:
    """Scheme, host and port; a URL with a user name or an unknown scheme has none.

    Raises:
        ValueError: It is no such URL.
    """
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname or parts.username or parts.password:
        raise ValueError("give an origin such as https://agents.example.com")
    return parts.scheme, parts.hostname, parts.port or _PORTS[parts.scheme]


def _true(address: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for, if it does."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address
