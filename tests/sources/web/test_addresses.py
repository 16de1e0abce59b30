"""Which addresses may be connected to."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.sources.web.addresses import parse_address, refusal

PUBLIC = (
    "8.8.8.8 1.1.1.1 93.184.216.34 172.15.255.255 172.32.0.0 100.63.255.255 100.128.0.0 192.0.1.1 198.20.0.0 \
223.255.255.255 2606:4700:4700::1111 2001:4860:4860::8888 2a00:1450:4001::1 64:ff9b::808:808"
)
PRIVATE = (
    "127.0.0.1 127.255.255.254 10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 \
100.127.255.255 ::1 fc00::1 fd12:3456::1"
)
NEVER = "0.0.0.0 0.1.2.3 169.254.0.1 169.254.169.254 168.63.129.16 100.100.100.200 192.0.0.1 192.0.0.192 192.0.2.1 \
192.88.99.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 \
:: fe80::1 fe80::1%eth0 fec0::1 ff02::1 fd00:ec2::254 100::1 2001:db8::1 3fff::1 5f00::1 4000::1 8000::1 \
2001::1 2001:0:7f00:1:: 2001:10::1 2001:20::1 2001:2::1 2002:7f00:1:: 2002:a00:1:: 2002:808:808:: \
::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:0:127.0.0.1 ::127.0.0.1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::7f00:1"


@pytest.mark.parametrize("text", PUBLIC.split())
def test_a_public_address_may_be_connected_to(text: str) -> None:
    address = parse_address(text)
    assert address is not None
    assert refusal(address) is None
    assert refusal(address, private=True) is None


@pytest.mark.parametrize("text", PRIVATE.split())
def test_an_intranet_is_reached_only_by_a_persons_word(text: str) -> None:
    address = parse_address(text)
    assert address is not None
    assert refusal(address)
    assert refusal(address, private=True) is None


@pytest.mark.parametrize("text", NEVER.split())
def test_metadata_services_and_disguised_addresses_are_never_reached(text: str) -> None:
    address = parse_address(text)
    assert address is not None
    assert refusal(address)
    assert refusal(address, private=True)


@given(st.integers(0, 2**32 - 1).map(IPv4Address))
def test_addresses_that_python_calls_not_global_are_never_public(address: IPv4Address) -> None:
    if not address.is_global or address.is_multicast or address.is_reserved:
        assert refusal(address)
    mapped = IPv6Address(0xFFFF << 32 | int(address))
    assert refusal(mapped)
    assert refusal(mapped, private=True)


@given(st.integers(0, 2**32 - 1).map(IPv4Address))
def test_an_address_behind_nat64_is_checked_as_ipv4(address: IPv4Address) -> None:
    behind = IPv6Address(int(IPv6Address("64:ff9b::")) | int(address))
    assert (refusal(behind) is None) == (refusal(address) is None)
    assert (refusal(behind, private=True) is None) == (refusal(address) is None)


@given(st.integers(0, 2**128 - 1).map(IPv6Address))
def test_only_the_global_part_of_ipv6_is_public(address: IPv6Address) -> None:
    if int(address) >> 125 != 1 and int(address) >> 32 != int(IPv6Address("64:ff9b::")) >> 32:
        assert refusal(address)


@pytest.mark.parametrize(
    "text", ["", "127.1", "0x7f.1", "1.2.3.4.5", "0177.0.0.1", "localhost", "1.2.3.04", "[::1]"]
)
def test_only_the_usual_spelling_is_an_address(text: str) -> None:
    assert parse_address(text) is None
