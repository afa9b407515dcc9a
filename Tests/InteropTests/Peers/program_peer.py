"""Runs a program of the system as a peer of the interop tests.

    python3 program_peer.py SECONDS LISTENING FOLDER PROGRAM ARGUMENT...

LISTENING says what comes before the program's own words:

    none    nothing; the program connects, or just does its work
    N       "READY port...": the program listens at N ports of loopback of its own choice, which the system tells
    =N      "READY host:port...": N free ports are found for a program that can't choose; {1}, {2}... in FOLDER/config are replaced by them and
            their host, which is a loopback address of this process's own, so that nobody else takes them first

Then each line that it says on either of its outputs is passed on. Each line from standard input goes to its own. SIGTERM kills the program at
once, and it dies with this one, after SECONDS, and when standard input is closed. It works in FOLDER.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
import time


def say(*words):
    print(*words, flush=True)


def listening_ports(pid):
    """Where the process listens: its descriptors, compared with the kernel's table."""
    inodes = set()
    for descriptor in os.listdir(f"/proc/{pid}/fd"):
        try:
            inodes.add(os.readlink(f"/proc/{pid}/fd/{descriptor}"))
        except OSError:
            pass
    ports = []
    for line in open("/proc/net/tcp").readlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and f"socket:[{fields[9]}]" in inodes:
            ports.append(int(fields[1].split(":")[1], 16))
    return ports


def free_places(count, folder):
    """Hosts and ports that nobody listens at, in the config, too."""
    pid = os.getpid()
    host = f"127.{65 + (pid >> 16 & 63)}.{pid >> 8 & 255}.{pid & 255}"
    sockets = [socket.create_server((host, 0)) for _ in range(count)]
    places = [f"{host}:{made.getsockname()[1]}" for made in sockets]
    for made in sockets:
        made.close()
    path = os.path.join(folder, "config")
    text = open(path).read()
    for number, place in enumerate(places, 1):
        text = text.replace("{%d}" % number, place)
    open(path, "w").write(text)
    return places


def pass_input(program):
    try:
        for line in sys.stdin.buffer:
            program.stdin.write(line)
            program.stdin.flush()
    except OSError:
        # The program has gone: its end says the rest.
        return
    program.kill()
    os._exit(0)


def main(seconds, listening, folder, *command):
    places = free_places(int(listening[1:]), folder) if listening.startswith("=") else []
    count = 0 if listening == "none" else len(places) or int(listening)
    program = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", *command], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    signal.signal(signal.SIGTERM, lambda *_: program.kill())
    signal.signal(signal.SIGALRM, lambda *_: (program.kill(), os._exit(3)))
    signal.alarm(int(seconds))
    ports = []
    while len(ports) < count and program.poll() is None:
        time.sleep(0.005)
        try:
            ports = listening_ports(program.pid)
        except FileNotFoundError:
            # It has just ended.
            pass
    if ports:
        say("READY", *(places or ports))
    threading.Thread(target=pass_input, args=[program], daemon=True).start()
    for line in program.stdout:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
    status = program.wait()
    os._exit(128 - status if status < 0 else status)


main(*sys.argv[1:])
