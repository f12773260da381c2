"""A machine with a JupyterHub, set up as book/run.md says. Its mounts, users and processes are its own and end with it:

    unshare --mount --pid --fork --kill-child --mount-proc python machine.py FOLDER

FOLDER holds plan.json (see tests/test_jupyterhub.py) and gets results.json. When standard input is closed, everything here ends.
"""

import ctypes
import fcntl
import json
import os
import select
import socket
import struct
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from student import Student

NEW_NETWORK = 0x40000000  # CLONE_NEWNET of sched.h
SET_FLAGS, UP = 0x8914, 0x41  # SIOCSIFFLAGS, IFF_UP | IFF_RUNNING
LIMIT = 1800  # seconds; a quiet machine needs a tenth of it
TLJH = Path(
    "/opt/tljh"
)  # The Littlest JupyterHub has its hub's environment in hub/, its users' in user/
ADDRESS = "http://127.0.0.1:8000"
GIT = """
[safe]
    directory = {bare}
[url "file:///srv/git"]
    insteadOf = {server}
"""
CONFIGURATION = """
c.Authenticator.allow_all = True
c.ConfigurableHTTPProxy.command = ["/srv/proxy/node_modules/.bin/configurable-http-proxy"]
c.Spawner.cmd = ["/opt/tljh/user/bin/jupyterhub-singleuser"]
c.Spawner.start_timeout = c.Spawner.http_timeout = 300
c.Spawner.environment.update({variables})
"""
# No GPU, wherever this runs; and a compiler that need not optimize is done in half the time.
VARIABLES = {"CUDA_VISIBLE_DEVICES": "", "SKBUILD_CMAKE_ARGS": "-DCMAKE_CXX_FLAGS_RELEASE=-O0"}


def main(folder):
    threading.Thread(target=end_with_parent, daemon=True).start()
    plan = json.loads((folder / "plan.json").read_text())
    mount_all(folder, plan)
    Path("/etc/gitconfig").write_text(GIT.format(**plan))
    for name in plan["students"]:
        run("useradd", "--create-home", name)
        run("chpasswd", input=f"{name}:{name}'s password")
    run("bash", "-euxo", "pipefail", "-c", plan["commands"], cwd="/root", env=administrator())
    before = state()
    cut_network()
    Path("/srv/jupyterhub_config.py").write_text(
        CONFIGURATION.format(variables=VARIABLES) + plan["configuration"]
    )
    start_hub(plan)
    students = {name: Student(name, ADDRESS) for name in plan["students"]}
    with ThreadPoolExecutor() as pool:
        lessons = pool.map(lambda student: lesson(student, plan), students.values())
        results = {"lessons": dict(zip(students, lessons, strict=True))}
    results["edits"] = edits(*students.values(), plan)
    after = state()
    results["changed"] = sorted(
        path for path in before | after if before.get(path) != after.get(path)
    )
    results["homes"] = {name: home(name) for name in students}
    Path("/srv/results.json").write_text(json.dumps(results, indent=1))


def end_with_parent():
    if not select.select([sys.stdin], [], [], LIMIT)[0]:
        print(f"not done after {LIMIT} seconds", flush=True)
    os._exit(1)  # this is process 1 here: with it all others end


def run(*command, **options):
    return subprocess.run(command, check=True, text=True, **options)


def mount_all(folder, plan):
    """What is written to /etc, /opt, /var and the cached environments stays in memory; /home and /opt/casebook lie in FOLDER."""
    folder.chmod(0o755)
    run("mount", "--bind", folder, "/srv")
    for name in ("memory", "home", "casebook", "proxy"):
        Path("/srv", name).mkdir()
    run("mount", "-t", "tmpfs", "none", "/srv/memory")
    for place in ("/etc", "/opt", "/var"):
        layer(place, place)
    for name in ("hub", "user"):
        (TLJH / name).mkdir(parents=True)
        layer(Path(plan["installed"], name), TLJH / name)
    bind(Path(plan["installed"], "proxy"), "/srv/proxy")
    bind("/srv/home", "/home")
    bind("/srv/casebook", "/opt/casebook")
    run("mount", "-t", "tmpfs", "none", "/tmp")


def layer(below, place):
    upper = Path("/srv/memory", str(place).strip("/").replace("/", "-"))
    work = upper.with_suffix(".work")
    upper.mkdir()
    work.mkdir()
    run(
        "mount",
        "-t",
        "overlay",
        "none",
        "-o",
        f"lowerdir={below},upperdir={upper},workdir={work}",
        place,
    )


def bind(source, place):
    Path(place).mkdir(parents=True, exist_ok=True)
    run("mount", "--bind", source, place)


def administrator():
    """Variables of root's shell. What pip would fetch is in the users' environment already, setuptools too."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("VIRTUAL_ENV", "PYTHON", "PYENV", "CASEBOOK", "PYTEST"))
    }
    pip = {
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",
        "PIP_QUIET": "1",
    }  # 0: "no isolation" is what pip reads
    return kept | VARIABLES | pip | {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


def state():
    """What a student must not change: {path: (mode, owner, size, time of the last change)}."""
    paths = (
        Path(folder, name)
        for top in ("casebook", "gpu-python-casebook", "tljh/user")
        for folder, folders, files in os.walk(Path("/opt", top))
        for name in [".", *files]
    )
    found = {str(path): path.lstat() for path in paths}
    return {path: (s.st_mode, s.st_uid, s.st_size, s.st_mtime_ns) for path, s in found.items()}


def cut_network():
    if ctypes.CDLL(None, use_errno=True).unshare(NEW_NETWORK):
        raise OSError(ctypes.get_errno(), "unshare")
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sh", b"lo", UP))


def start_hub(plan):
    """Returns when the hub runs. It ends with this process."""
    path = f"{TLJH}/hub/bin:{plan['node']}:/usr/sbin:/usr/bin:/sbin:/bin"
    command = [TLJH / "hub/bin/jupyterhub", "--config", "/srv/jupyterhub_config.py"]
    hub = subprocess.Popen(
        command,
        cwd="/srv",
        env={"PATH": path, "LANG": "C.UTF-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    running = threading.Event()

    def follow():
        for line in hub.stdout:
            print(line, end="", flush=True)
            if "JupyterHub is now running" in line:
                running.set()
        os._exit(1)  # it ended before we did

    threading.Thread(target=follow, daemon=True).start()
    running.wait()


def lesson(student, plan):
    """Chapter 1, from the login to its last cell, or to one that fails: Run All ends there too."""
    start = time.monotonic()
    student.log_in()
    student.follow(f"{ADDRESS}{plan['link']}")
    with student.open(plan["chapter"]) as notebook:
        cells, times = [], []
        for source in notebook.cells:
            cells.append(notebook.run(source))
            times.append(time.monotonic() - start)
            if cells[-1]["status"] != "ok":
                break
    return {"cells": cells, "times": times}


def edits(one, other, plan):
    """What the page's check says, and what the exercise says to a student before and after an edit of native/, and then to another."""
    with one.open(plan["exercise"]) as notebook:
        setup, cell = notebook.cells
        said = {
            name: notebook.run(source)
            for name, source in (
                ("setup", setup),
                ("check", plan["check"]),
                ("before", cell),
                ("edit", plan["edit"]),
                ("after", cell),
            )
        }
    with other.open(plan["exercise"]) as notebook:
        return said | {
            f"other's {name}": notebook.run(source)
            for name, source in (("setup", setup), ("answer", cell))
        }


def home(name):
    """Bytes that a student's home takes on the disk, what casebook keeps there, and what of the shared folders the student could write."""
    found = {
        (s.st_dev, s.st_ino): s.st_blocks * 512
        for path in Path("/home", name).rglob("*")
        for s in [path.lstat()]
    }
    kept = sorted(
        str(path.relative_to(f"/home/{name}/.cache/casebook"))
        for path in Path("/home", name, ".cache/casebook").glob("*/*")
    )
    search = ["find", "/opt/casebook", "/opt/gpu-python-casebook", "-writable", "!", "-type", "l"]
    answer = subprocess.run(
        ["runuser", "-u", name, "--", *search],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return {"bytes": sum(found.values()), "casebook": kept, "writable": answer.stdout.splitlines()}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
    os._exit(0)  # and all others here with it
