"""Attempts at sockets."""

from __future__ import annotations

import ctypes
import os
import socket

from .attempts import Targets, attempt, call


@attempt
def reach_tcp(targets: Targets) -> object:
    with socket.create_connection(("127.0.0.1", targets["tcp"]), timeout=10) as line:
        return line.recv(1) or os.abort()


@attempt
def listen_on_tcp(targets: Targets) -> object:
    with socket.create_server(("127.0.0.1", 0)):
        return True


@attempt
def ask_by_udp(targets: Targets) -> object:
    # What a question for a name looks like: a datagram, and one that comes back.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.settimeout(10)
        line.sendto(b"?", ("127.0.0.1", targets["udp"]))
        return line.recv(1)


@attempt
def reach_a_socket_by_path(targets: Targets) -> object:
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(targets["unix"])
        return line.recv(1)


@attempt
def reach_a_socket_in_the_own_folder(targets: Targets) -> object:
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(targets["near"])
        return line.recv(1)


@attempt
def reach_an_abstract_socket(targets: Targets) -> object:
    with socket.socket(socket.AF_UNIX) as line:
        line.connect("\0" + targets["abstract"])
        return line.recv(1)


@attempt
def send_from_a_pair_of_datagrams(targets: Targets) -> object:
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with one, other:
        return one.sendto(b"x", targets["datagrams"])


@attempt
def talk_netlink(targets: Targets) -> object:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW):
        return True


@attempt
def talk_to_the_crypto_sockets(targets: Targets) -> object:
    with socket.socket(38, socket.SOCK_SEQPACKET):
        return True


@attempt
def make_a_raw_socket(targets: Targets) -> object:
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP):
        return True


@attempt
def make_a_packet_socket(targets: Targets) -> object:
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW):
        return True


@attempt
def make_a_ring(targets: Targets) -> object:
    return call(425, 4, (ctypes.c_char * 256)())
