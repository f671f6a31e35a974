"""A lesson on settings: repair an INI file and a JSON file until the script that checks them is content."""

import json
from pathlib import Path

from tests.lessons.first.folders import read, write
from tests.lessons.lesson import Lesson

CHECK_PY = '''"""Check the settings of the service; print what is wrong, else a line for each file."""

import configparser
import json
import os
import sys

wrong = []
settings = configparser.ConfigParser()
settings.read("config/server.ini", encoding="utf-8")
port = settings["server"]["port"]
if not port.isdigit() or not 1024 <= int(port) <= 65535:
    wrong.append(f"config/server.ini: port {port} does not lie between 1024 and 65535")
for name in ("timeout", "retry"):
    if not settings["server"][name].isdigit():
        wrong.append(f"config/server.ini: {name} must be a number of seconds without a unit")
if not os.path.isdir(settings["storage"]["path"]):
    wrong.append(f"config/server.ini: there is no folder {settings['storage']['path']}")
users = {}
try:
    with open("config/users.json", encoding="utf-8") as stream:
        users = json.load(stream)
except ValueError as error:
    wrong.append(f"config/users.json: {error}")
if wrong:
    sys.exit("\\n".join(wrong))
print("config/server.ini: ok")
print(f"config/users.json: ok, {len(users['users'])} users")
'''

SERVER_FIRST = """# settings of the service
[server]
host = 127.0.0.1
port = 84433
timeout = 30s
retry = 5s

[storage]
# path of the old machine was data/old
path = data/wearhouse
keep = 14d
"""
USERS_FIRST = """{
  "users": [
    {"name": "desk", "roles": ["read", "write"]},
    {"name": "store", "roles": ["read",]},
  ],
  "quota": 200,
}
"""
SERVER_SECOND = """[server]
# 443 needs more rights; the port of the tests is 9099
host = 0.0.0.0
backlog = 20
port = 443
retry = 12s
timeout = 90s

[storage]
keep = 30d
path = data/depot/old
compress = yes
"""
USERS_SECOND = """{
  "quota": 350,
  "users": [
    {"name": "front desk", "roles": ["read", "write",]},
    {"name": "Büro", "roles": ["read",
      "export",
    ]},
    {"name": "night, weekend", "roles": ["read"]},
  ],
  "groups": []
}
"""
USERS_REPAIRED = {
    "quota": 350,
    "users": [
        {"name": "front desk", "roles": ["read", "write"]},
        {"name": "Büro", "roles": ["read", "export"]},
        {"name": "night, weekend", "roles": ["read"]},
    ],
    "groups": [],
}


def _settings(folder: Path, server: str, users: str, storage: str) -> None:
    write(folder / "config" / "server.ini", server)
    write(folder / "config" / "users.json", users)
    write(folder / "check_config.py", CHECK_PY)
    write(folder / storage / "contents.txt", "empty\n")
    write(folder / "data" / "spare" / "contents.txt", "spare\n")


def _first(folder: Path) -> None:
    _settings(folder, SERVER_FIRST, USERS_FIRST, "data/warehouse")


def _second(folder: Path) -> None:
    _settings(folder, SERVER_SECOND, USERS_SECOND, "data/depot")


def _check(folder: Path) -> None:
    server = SERVER_SECOND.replace("\nport = 443\n", "\nport = 9443\n").replace(
        "data/depot/old", "data/depot"
    )
    server = server.replace("\nretry = 12s\n", "\nretry = 12\n").replace(
        "\ntimeout = 90s\n", "\ntimeout = 90\n"
    )
    assert read(folder / "config" / "server.ini") == server
    assert read(folder / "check_config.py") == CHECK_PY
    assert read(folder / "check-report.txt") == "config/server.ini: ok\nconfig/users.json: ok, 3 users\n"
    assert json.loads(read(folder / "config" / "users.json")) == USERS_REPAIRED


REPAIR = Lesson(
    name="repair_service_settings",
    goal="Repair the settings of the service, with port 8443, until their check passes; keep its report",
    prepare=_first,
    typed=(
        "ls -R",
        "python3 check_config.py",
        "cat config/server.ini config/users.json",
        """ed config/server.ini
/^prot/s/=.*/= 8443/
/^port/s/=.*/= 8443/
g/^timeout\\|^retry/s/s$//
,n
w
q""",
        "sed -i 's#^path = .*#path = data/warehouse#' config/server.ini",
        "sed -i 's/,]/]/' config/users.json",
        "python3 check_config.py",
        "sed -i -z -E 's/,([[:space:]]*[]}])/\\1/g' config/users.json",
        "cat config/users.json",
        "pyton3 check_config.py > check-report.txt",
        "python3 check_config.py > check-report.txt",
        "cat check-report.txt",
    ),
    facts=(
        ("check_config.py",),
        ("/^port/s/=.*/=", "set the port", "port = "),
        ("^timeout\\|^retry", "timeout and retry", "timeout, retry"),
        ("s/s$//", "without the unit", "remove the s at the end", "without a trailing s"),
        ("s#^path = .*#path = ", "path of the storage", "storage path", "set the path"),
        (",([[:space:]]*[]}])", "comma before a closing bracket", "trailing comma"),
        ("check-report.txt",),
    ),
    absent=("/^prot/", "pyton3", "s/,]/]/"),
    parameters=("8443", "data/warehouse"),
    finds=(
        "fix the broken ini and json configuration of the server",
        "make the config check pass",
        "correct an invalid json file with trailing commas and the wrong port",
    ),
    near_misses=(
        "write a script that checks the settings of the service",
        "delete the users of the service from its settings",
        "report which port the service uses",
    ),
    other=_second,
    other_values={"8443": "9443", "data/warehouse": "data/depot"},
    check=_check,
)

LESSONS = (REPAIR,)
