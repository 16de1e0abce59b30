"""Which network addresses a fetch may connect to: public ones, and private ones only for hosts in `web.allow`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, NamedTuple

Address = IPv4Address | IPv6Address

# The ranges are listed here because Python's `is_global` answers differently for some of them in each version.
_METADATA: Final = {
    "where metadata services of clouds answer": "169.254.169.254/32 168.63.129.16/32 100.100.100.200/32 fd00:ec2::/32",
}
_PRIVATE: Final = {
    "this machine": "127.0.0.0/8 ::1/128",
    "a private network": "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7",
    "a carrier's shared network": "100.64.0.0/10",
}
"""Reached only by hosts that `web.allow` names."""

_NEVER: Final = {
    "no address": "0.0.0.0/8 ::/128",
    "the local link": "169.254.0.0/16 fe80::/10",
    "a site-local network": "fec0::/10",
    "for protocols": "192.0.0.0/24 192.88.99.0/24 2001::/23 2002::/16 100::/64 5f00::/16",
    "for documentation": "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20",
    "for benchmarks": "198.18.0.0/15",
    "multicast": "224.0.0.0/4 ff00::/8",
    "reserved": "240.0.0.0/4",
    "an IPv4 address in disguise": "::ffff:0:0/96 ::ffff:0:0:0/96 ::/96 64:ff9b:1::/48",
}
"""Never reached, as the metadata services."""

_NAT64: Final = IPv6Network("64:ff9b::/96")
_GLOBAL_IPV6: Final = IPv6Network("2000::/3")


class _Range(NamedTuple):
    """A range of addresses, and whether `web.allow` can open it."""

    description: str
    network: IPv4Network | IPv6Network
    is_private: bool


def refusal(address: Address, *, private: bool = False) -> str | None:
    """Return why an address may not be reached, or None; `private` allows addresses of private networks."""
    if isinstance(address, IPv6Address):
        if address.scope_id is not None:
            return "an address of one network card"
        if address in _NAT64:  # a network without IPv4 maps public IPv4 addresses to these
            return refusal(IPv4Address(int(address) & 0xFFFFFFFF))
    entry = _find_range(address)
    if entry is not None:
        is_allowed = entry.is_private and private
        return None if is_allowed else entry.description
    if isinstance(address, IPv6Address) and address not in _GLOBAL_IPV6:
        return "reserved"
    return None if address.is_global else "reserved"


def _find_range(address: Address) -> _Range | None:
    """Return the first range that holds an address."""
    for entry in _ranges():
        if address in entry.network:
            return entry
    return None


def parse_address(text: str) -> Address | None:
    """Return the address in a text, or None if it is not one in the usual notation."""
    try:
        return ip_address(text)
    except ValueError:
        return None


@cache
def _ranges() -> tuple[_Range, ...]:
    """Return all ranges, in the order in which they are tried."""
    return (*_parse(_METADATA), *_parse(_PRIVATE, is_private=True), *_parse(_NEVER))


def _parse(table: Mapping[str, str], *, is_private: bool = False) -> list[_Range]:
    ranges = []
    for description, networks in table.items():
        for network in networks.split():
            ranges.append(_Range(description, ip_network(network), is_private))
    return ranges
