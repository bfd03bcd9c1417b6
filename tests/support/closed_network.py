"""Runs a command where nothing but loopback can be reached, and records every packet that it sends elsewhere. In a
network namespace of its own, the default route leads into a tunnel whose other end is this module, and the one name
server is there, too: so an attempt is seen, and gets no answer."""

import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OWN, SERVER = "10.99.0.2", "10.99.0.1"
OWN_6 = "fd00:99::2"
_NAME = b"outside"
_ENTER = ("unshare", "--user", "--map-root-user", "--net", "--mount", "--")
_NEIGHBOURS = range(130, 144)
"""The types of ICMPv6 by which the kernel itself looks for routers, neighbours and groups."""


@dataclass(frozen=True)
class Outcome:
    """How a command ended, and in words each packet that left."""

    code: int
    output: str
    packets: list[str]


@cache
def why_not() -> str:
    """Why this system can't run a command so; empty where it can."""
    if sys.platform != "linux" or shutil.which("unshare") is None:
        return "needs Linux's network namespaces, and the command unshare"
    done = subprocess.run([*_ENTER, sys.executable, __file__, "{}", "true"], capture_output=True, text=True)
    return f"this system allows no network namespaces: {done.stderr.strip()[-200:]}" if done.returncode else ""


def run_closed(command: Sequence[str], environment: Mapping[str, str], *, timeout: float) -> Outcome:
    """Runs a command in the closed network."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "packets.json"
        with subprocess.Popen(
            [*_ENTER, sys.executable, __file__, str(report), *command],
            cwd=ROOT,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                output, _ = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                raise
        return Outcome(process.returncode, output, json.loads(report.read_text("utf-8")))


# -- inside the namespace


def _main(report: str, *command: str) -> int:
    packets: list[str] = []
    tunnel = _open_tunnel()
    _use_name_server()
    done = threading.Event()
    reader = threading.Thread(target=_read, args=(tunnel, packets, done))
    reader.start()
    code = subprocess.run(command).returncode
    # A last packet of this module's own comes behind all others.
    done.set()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
        last.sendto(_LAST, (SERVER, 9))
    reader.join()
    if report != "{}":
        Path(report).write_text(json.dumps(packets), "utf-8")
    return code


_LAST = b"the last packet of all"


def _open_tunnel() -> int:
    """Makes a tunnel that all routes lead to; returns the file of its other end."""
    import fcntl

    set_interface, tun, no_header = 0x400454CA, 0x0001, 0x1000  # linux/if_tun.h
    set_flags, set_address, set_mask, add_route = 0x8914, 0x8916, 0x891C, 0x890B  # linux/sockios.h
    up, running, route_up = 0x1, 0x40, 0x1

    def ip4(address: str) -> bytes:
        return struct.pack("=HH4s8x", socket.AF_INET, 0, socket.inet_aton(address))

    tunnel = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tunnel, set_interface, struct.pack("16sH22x", _NAME, tun | no_header))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as four:
        fcntl.ioctl(four, set_flags, struct.pack("16sH22x", b"lo", up | running))
        fcntl.ioctl(four, set_address, struct.pack("16s16s8x", _NAME, ip4(OWN)))
        fcntl.ioctl(four, set_mask, struct.pack("16s16s8x", _NAME, ip4("255.255.255.0")))
        fcntl.ioctl(four, set_flags, struct.pack("16sH22x", _NAME, up | running))
        name = bytearray(_NAME + b"\0")
        import ctypes

        buffer = (ctypes.c_char * len(name)).from_buffer(name)
        route = struct.pack(
            "@L16s16s16sHhLPhPLLH",
            0, ip4("0.0.0.0"), ip4("0.0.0.0"), ip4("0.0.0.0"), route_up, 0, 0, 0, 0, ctypes.addressof(buffer), 0, 0, 0,
        )  # fmt: skip
        fcntl.ioctl(four, add_route, route)
    if socket.has_ipv6:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as six:
            index = socket.if_nametoindex(_NAME.decode())
            own = socket.inet_pton(socket.AF_INET6, OWN_6)
            fcntl.ioctl(six, set_address, struct.pack("=16sIi", own, 64, index))
            route = struct.pack(
                "@16s16s16sIHHIIPIi", bytes(16), bytes(16), bytes(16), 0, 0, 0, 1, 0, 0, route_up, index
            )
            fcntl.ioctl(six, add_route, route)
    return tunnel


def _use_name_server() -> None:
    """Has all names of this namespace asked for at the tunnel's other end."""
    folder = Path(tempfile.mkdtemp())
    for name, text in (
        ("resolv.conf", f"nameserver {SERVER}\noptions timeout:1 attempts:1\n"),
        ("nsswitch.conf", "hosts: files dns\n"),
    ):
        (folder / name).write_text(text)
        there = Path("/etc", name)
        if there.exists():
            subprocess.run(["mount", "--bind", str(folder / name), os.path.realpath(there)], check=True)


def _read(tunnel: int, packets: list[str], done: threading.Event) -> None:
    while True:
        packet = os.read(tunnel, 65_536)
        if done.is_set() and packet.endswith(_LAST):
            return
        if words := describe(packet):
            packets.append(words)


def describe(packet: bytes) -> str:
    """Returns where a packet was going, in words; empty for what the kernel sends by itself."""
    if packet[0] >> 4 == 4:
        protocol, target = packet[9], socket.inet_ntop(socket.AF_INET, packet[16:20])
        inner = packet[4 * (packet[0] & 15) :]
    else:
        protocol, target, inner = packet[6], socket.inet_ntop(socket.AF_INET6, packet[24:40]), packet[40:]
        if protocol == 0:  # options for each hop come first
            protocol, inner = inner[0], inner[8 * (inner[1] + 1) :]
        if protocol == 58 and inner[0] in _NEIGHBOURS:
            return ""
    if protocol not in (6, 17):
        return f"protocol {protocol} to {target}"
    port = int.from_bytes(inner[2:4], "big")
    name = _name_in(inner[20:]) if protocol == 17 and port in (53, 5353) else ""
    place = f"[{target}]:{port}" if ":" in target else f"{target}:{port}"
    return f"{'TCP' if protocol == 6 else 'UDP'} to {place}" + (f" for {name}" if name else "")


def _name_in(question: bytes) -> str:
    labels = []
    while question and question[0]:
        labels.append(question[1 : question[0] + 1].decode("ascii", "replace"))
        question = question[question[0] + 1 :]
    return ".".join(labels)


if __name__ == "__main__":
    raise SystemExit(_main(*sys.argv[1:]))
