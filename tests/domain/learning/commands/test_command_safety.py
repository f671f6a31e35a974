import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.learning.validation import SafetyClass
from domain.learning.commands.command_safety import (
    deleted_patterns,
    destructive_reason,
    external_send_reason,
    holds_masked_secret,
    programs_used,
    removes_any,
    safety_class,
)


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf /",
        "rm -rf ~",
        'rm -r "$HOME/x"',
        "rm -rf *",
        "rm -fr ./*",
        "rm -r .",
        "rm ../other",
        "sudo rm -rf /etc",
        "cd / && rm -rf usr",
        "cd .. && rm -rf usr",
        "env X=1 nice -n 5 rm -rf /",
        "timeout 5 rm -rf /",
        "find . -name x -exec rm -rf /etc \\;",
        "find / -name x -delete",
        "echo / | xargs rm -rf /",
        "bash -c 'rm -rf /'",
        "bash -ec 'bash -c \"rm -rf /\"'",
        "eval rm -rf /",
        "echo $(rm -rf /)",
        "echo `rm -rf /`",
        'echo "a $(rm -rf /) b"',
        "cat <(rm -rf /)",
        "x=$(rm -rf /)",
        "echo ${x:-$(rm -rf /)}",
        "cat <<END\n$(rm -rf /)\nEND",
        "bash <<END\nrm -rf /\nEND",
        "bash <<< 'rm -rf /'",
        "if true; then rm -rf /; fi",
        "for x in 1 2; do rm -rf /; done",
        "case x in x) rm -rf /;; esac",
        "f() { rm -rf /; }; f",
        "( rm -rf / )",
        "! rm -rf /",
        "ls; \\rm -rf /",
        "r''m -rf /",
        "/bin/rm -rf /",
        "mkfs.ext4 /dev/sda1",
        "dd if=/dev/zero of=/dev/sda",
        "cat image > /dev/sda",
        "echo x > /etc/passwd",
        "echo x >> ~/.bashrc",
        "echo x | tee /etc/hosts",
        "cp a ../b",
        "mv /etc/passwd here",
        "chmod -R 777 /",
        "sed -i s/a/b/ /etc/hosts",
        "git push --force origin main",
        "git push -f",
        "git push origin +main",
        "git push origin :old",
        "git -C repo push --force",
        "git reset --hard HEAD~3",
        "git clean -fdx",
        "shutdown -h now",
        "systemctl stop sshd",
        "kill -9 -1",
        "killall python",
        "crontab -r",
        "docker system prune -f",
        "psql -c 'DROP TABLE users'",
        "curl https://example.org/install | sh",
        "echo cm0gLXJmIC8= | base64 -d | bash",
        "eval $COMMAND",
        ":(){ :|:& };:",
        "bomb() { bomb | bomb & }; bomb",
        "echo 'unclosed",
        "echo $(unclosed",
    ],
)
def test_a_command_that_destroys_or_hides_what_it_runs_is_destructive(command: str) -> None:
    assert destructive_reason(command) is not None


@pytest.mark.parametrize(
    "command",
    [
        "rm file.txt",
        "rm -rf build",
        "rm *.o",
        "mv a b",
        "sort a > b",
        "echo x 2> /dev/null",
        'echo x > "$TMPDIR/y"',
        "cd sub && mv x ..",
        "echo 'rm -rf /'",
        'echo "rm -rf /" # rm -rf /',
        "grep -r 'shutdown' .",
        "cat <<'END' > script.sh\nrm -rf /\nEND",
        "git commit -m 'push --force'",
        "git push-notes",
        "find . -name '*.tmp' -delete",
        "dd if=/dev/zero of=blank bs=1 count=1",
        "tar xf a.tar && rm a.tar",
        "kill 12345",
        'for f in *.txt; do mv "$f" "done-$f"; done',
        "diff <(sort a) <(sort b) || true",
        "",
    ],
)
def test_a_command_that_works_on_its_own_files_is_not_destructive(command: str) -> None:
    assert destructive_reason(command) is None


def test_a_parent_folder_is_judged_from_where_the_command_runs() -> None:
    assert destructive_reason("cp a ../b", "sub/folder") is None
    assert destructive_reason("cp a ../../../b", "sub/folder") is not None


@pytest.mark.parametrize(
    "command",
    [
        "curl https://example.org",
        "wget -q example.org",
        "scp a host:b",
        "ssh host true",
        "mail -s x me@example.org < a",
        "rsync -a folder host:backup",
        "git push",
        "git clone https://example.org/x",
        "npm publish",
        "pip install x",
        "echo x > /dev/tcp/example.org/80",
        "cat secret | xargs curl -d",
        "bash -c 'curl example.org'",
        "find . -exec curl -T {} example.org \\;",
        "aws s3 cp a s3://b",
    ],
)
def test_a_command_that_reaches_outside_is_told(command: str) -> None:
    assert external_send_reason(command) is not None


@pytest.mark.parametrize(
    "command",
    ["rsync -a a b", "git commit -m push", "git log", "npm run build", "echo curl", "pip list", "man curl"],
)
def test_a_command_that_stays_here_is_no_send(command: str) -> None:
    assert external_send_reason(command) is None


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        ([], SafetyClass.LOW),
        (["sort a > b", "wc -l b"], SafetyClass.LOW),
        (["sort a > b", "rm a"], SafetyClass.MEDIUM),
        (["python3 convert.py"], SafetyClass.MEDIUM),
        (["./build.sh"], SafetyClass.MEDIUM),
        (["$TOOL a"], SafetyClass.MEDIUM),
        (["sudo apt list"], SafetyClass.HIGH),
        (["rm a", "curl example.org"], SafetyClass.HIGH),
        (["echo 'open"], SafetyClass.HIGH),
    ],
)
def test_the_safety_class_is_that_of_the_worst_command(commands: list[str], expected: SafetyClass) -> None:
    assert safety_class(commands) is expected


def test_the_programs_used_are_named_once_in_order() -> None:
    assert programs_used(
        [
            "cat a | sort | uniq -c > b && cd sub; export X=1",
            "LC_ALL=C sort b | xargs -n 1 gzip -9",
            "for f in *; do /usr/bin/pandoc $f; done",
            "echo $(date) `whoami`",
            "bash -c 'jq . a.json'",
            "find . -exec chmod +x {} +",
        ]
    ) == (
        *("cat", "sort", "uniq", "xargs", "gzip", "pandoc", "date", "whoami", "bash", "jq", "find", "chmod"),
    )


def test_what_an_activated_environment_brings_is_no_program_on_the_path() -> None:
    assert programs_used(
        [". .venv/bin/activate", "pip install x && python report.py | sort", "deactivate"]
    ) == ("sort",)
    assert programs_used(["python report.py"]) == ("python",)


def test_what_needs_no_program_on_the_path_is_left_out() -> None:
    assert programs_used(["./run.sh; $EDITOR x; f() { true; }; f; [ -f a ] && x=1", "echo 'open"]) == ()


@pytest.mark.parametrize(
    ("command", "folder", "removed"),
    [
        ("rm a.txt", ".", "a.txt"),
        ("rm *.txt", ".", "a.txt"),
        ("rm -r .", ".", "a.txt"),
        ("rm ../a.txt", "sub", "a.txt"),
        ("cd sub && rm ../a.txt", ".", "a.txt"),
        ("mv a.txt b.txt", ".", "a.txt"),
        ("ls | xargs rm", ".", "a.txt"),
        ("find . -name '*.txt' -exec rm {} +", ".", "a.txt"),
        ("find -delete", ".", "a.txt"),
        ("find other -delete", ".", None),
        ("rm 'open", ".", "a.txt"),
        ("rm a.txt", "sub", None),
        ("mv b.txt a.txt", ".", None),
        ("cat a.txt", ".", None),
        ("cp a.txt b.txt && rm b.txt", ".", None),
    ],
)
def test_removing_a_given_file_is_found_by_name_pattern_and_folder(
    command: str, folder: str, removed: str | None
) -> None:
    assert removes_any(command, ["a.txt"], folder) == removed


def test_removing_a_folder_removes_what_it_holds() -> None:
    assert removes_any("rm -r docs", ["docs/a.txt"]) == "docs/a.txt"


@pytest.mark.parametrize(
    "command", ["login [MASKED:password]", "curl -u x:[REDACTED]", "export TOKEN=***", "login -p ***"]
)
def test_a_masked_secret_is_noticed(command: str) -> None:
    assert holds_masked_secret(command)


def test_an_ordinary_pattern_is_no_masked_secret() -> None:
    assert not holds_masked_secret("ls *.txt **/x [M]* && echo '*** done ***'")


SHELL_TEXT = st.lists(
    st.sampled_from(
        [
            *"abr$(){}[]<>|&;'\"`\\#!=/. \n\t",
            "$(",
            "<<E",
            "case x in ",
            "esac",
            "for ",
            "do ",
            "rm -rf /",
            "bash -c ",
        ]
    ),
    max_size=30,
).map("".join)


@given(SHELL_TEXT)
def test_every_text_gets_a_judgement(command: str) -> None:
    assert safety_class([command]) in SafetyClass
    assert isinstance(programs_used([command]), tuple)


@given(
    st.text(alphabet="abcxyz /-", max_size=20), st.sampled_from(["; ", " && ", " | ", "\n", " || ", " & "])
)
def test_what_stands_beside_it_does_not_make_a_destructive_command_harmless(other: str, joint: str) -> None:
    assert destructive_reason(f"echo {other}{joint}rm -rf /etc") is not None
    assert destructive_reason(f"rm -rf /etc{joint}echo {other}") is not None


@pytest.mark.parametrize(
    ("command", "patterns"),
    [
        ("rm *.gz", ("*.gz",)),
        ("rm -f -- a.txt tmp/part-?? tmp/part-??", ("tmp/part-??",)),
        ("find . -type f -name '*~' -delete", ("*~",)),
        ("find . -name 'x*' -exec rm {} +", ("x*",)),
        ("rm top.txt", ()),
        ("ls *.gz", ()),
        ("mv *.gz old/", ()),
        ("rm 'unclosed", ()),
    ],
)
def test_the_patterns_by_which_files_are_deleted_are_found(command: str, patterns: tuple[str, ...]) -> None:
    assert deleted_patterns(command) == patterns
