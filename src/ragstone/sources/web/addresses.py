"""Which network addresses a fetch may connect to: public ones, and by a person's word those of a private network."""

from __future__ import annotations

from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# A list of our own: what Python's `is_global` says of several of these depends on its version.
_METADATA: Final = {
    "where metadata services of clouds answer": "169.254.169.254/32 168.63.129.16/32 100.100.100.200/32 fd00:ec2::/32",
}
_PRIVATE: Final = {
    "this machine": "127.0.0.0/8 ::1/128",
    "a private network": "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7",
    "a carrier's shared network": "100.64.0.0/10",
}
"""Where an intranet lives: reached only by hosts that `web.allow` names."""

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
"""Reached by nobody, whatever is allowed, as are the metadata services."""

_NAT64: Final = IPv6Network("64:ff9b::/96")
_GLOBAL: Final = IPv6Network("2000::/3")


def refusal(address: Address, *, private: bool = False) -> str | None:
    """Return what an address is that makes it not public, or None; with `private` an intranet's pass too."""
    if address.version == 6:
        if address.scope_id is not None:
            return "an address of one network card"
        if address in _NAT64:  # what a network without IPv4 makes of a public IPv4 address
            return refusal(IPv4Address(int(address) & 0xFFFFFFFF))
    for what, network, may_pass in _ranges():
        if address.version == network.version and address in network:
            return None if may_pass and private else what
    return None if address.is_global and (address.version == 4 or address in _GLOBAL) else "reserved"


def parsed(text: str) -> Address | None:
    """Return the address that a text spells in the one usual way, or None."""
    try:
        return ip_address(text)
    except ValueError:
        return None


@cache
def _ranges() -> tuple[tuple[str, Network, bool], ...]:
    """Return (what it is, the range, whether an intranet lives there), what decides first standing first."""
    tables = ((_METADATA, False), (_PRIVATE, True), (_NEVER, False))
    return tuple(
        (what, ip_network(one), may_pass)
        for table, may_pass in tables
        for what, ranges in table.items()
        for one in ranges.split()
    )
