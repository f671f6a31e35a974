"""Techniques of commands in technical words, as in a search query: "left join of csv files on a key".

A goal has the words of its day, and a request may name the technique and the kind of files instead. The table is
text: a line at the margin names programs, and each indented line has a condition and, after ``:``, words. The first
condition that holds gives the phrase, and each further line that begins with ``+`` and holds is added to it::

    sort
      : sort {files}
      + -n -g : numerically

A condition is nothing, option names as ``domain.learning.method.program_forms`` has them, one of which is given
(``-k=n``: with this letter in its value), or ``/…/``, a regular expression that is found in the arguments as they were
typed, with ``{#}`` for a running number in a new name (``running_numbers``). ``{files}`` is the kind of files that the
arguments name. A program without words (``mkdir``, ``cd``) is left out: it says nothing of what is done, and neither
does a call that only serves others (``auxiliary_calls``).
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from contracts.abilities.availability import MAX_TECHNIQUES
from domain.learning.commands.command_line import Call, calls_in
from domain.learning.commands.operations import NetEffect
from domain.learning.commands.shell_grammar import UnreadableCommand
from domain.learning.method.arguments import read_call
from domain.learning.method.auxiliary_calls import auxiliary_calls
from domain.learning.method.program_forms import table_blocks
from domain.learning.method.running_numbers import assignments_in, counters_in, with_running_number

_KINDS = {
    extension: kind
    for kind, extensions in {
        "csv": "csv tsv", "text": "txt", "log": "log", "markdown": "md rst", "html": "html htm", "json": "json jsonl",
        "xml": "xml xsd", "yaml": "yaml yml", "image": "jpg jpeg png tif tiff gif webp heic bmp", "vector image": "svg",
        "pdf": "pdf", "audio": "mp3 wav flac ogg m4a", "video": "mp4 mkv mov avi webm", "database": "db sqlite sqlite3",
        "configuration": "ini cfg conf toml env", "C source": "c h", "Python": "py", "shell script": "sh",
        "SQL": "sql", "subtitle": "srt vtt", "mail": "eml mbox", "calendar": "ics", "contact": "vcf", "LaTeX": "tex",
        "style sheet": "css", "JavaScript": "js ts", "document": "docx odt doc rtf", "spreadsheet": "xlsx ods xls",
    }.items()
    for extension in extensions.split()
}  # fmt: skip
_EXTENSION = re.compile(r"\.([A-Za-z0-9]{1,7})(?=$|[\"'\s,;:)}*])")
_NAMED_KINDS = 2

_TABLE = r"""
sort
  -c : check whether lines are sorted
  -m : merge sorted files
  /^$/ :
  : sort {files}
  + -k : by a column
  + -n -g -h -k=n : numerically
  + -V : by version number
  + -r -k=r : in descending order
  + -u : without duplicates
  + -R : in random order
shuf
  : shuffle lines, random sample
uniq
  -c : count how often each line occurs
  -d -D : find duplicate lines
  -u : find lines that occur once
  : remove duplicate lines
cut
  -c -b : extract characters by position
  : extract columns of {files}
paste
  -s : join lines into one
  : put files side by side as columns
join
  -v : anti join of {files}, rows without a match
  -a : left join of {files} on a common key, with rows without a match
  : join {files} on a common key
comm
  : set difference of two sorted lists
diff, colordiff
  -r -q : compare two directories, list differing files
  -u : unified diff of two files, a patch
  : compare two files line by line
cmp
  : compare files byte by byte
patch
  -R : revert a patch
  : apply a patch
split, csplit
  : split {files} into parts
head
  /^(-n\s*)?-?1(\s|$)/ :
  : take the first lines
tail
  /(^|\s)(-n\s*)?\+\d/ :
  : take the last lines
wc
  -l : count lines
  -w : count words
  : count lines and words
tr
  /\[:(upper|lower):\]|[aA]-[zZ]/ : change upper and lower case
  -d : delete characters
  : replace characters
nl
  : number lines
tac
  : reverse the order of lines
fold, fmt
  : wrap long lines
column
  : align columns as a table
iconv
  : convert character encoding
dos2unix, unix2dos
  : convert line endings
expand, unexpand
  : convert tabs and spaces
cat
  /\S\s+\S|\*/ : concatenate {files}
rg
  -l : find {files} that contain a text
  -c : count matching lines
  -o : extract matches of a regular expression
  -v : filter out matching lines
  : search lines that match a pattern recursively in a directory
grep, egrep, fgrep, zgrep
  -l : find {files} that contain a text
  -L : find {files} without a text
  -c : count matching lines
  -o : extract matches of a regular expression
  -v : filter out matching lines
  -q : check whether a text occurs
  : search lines that match a pattern
  + -r -R : recursively in a directory
sed, perl
  /(^|[\s;{/0-9$'"])s([\/|,#:@!_]).*\2/ : search and replace in {files}
  /(^|[\s;0-9$}\/'"])d(\s|;|'|"|$)/ : delete lines of {files}
  /[0-9$\/]\s*[aic]\\?\s*\S/ : insert lines into {files}
  -n : print certain lines
  : edit {files} by a script
  + -i : in place
awk, gawk, mawk
  /NR\s*==\s*FNR|FNR\s*==\s*NR/ : look up values in another file by key, join
  /!\s*\w+\[[^\]]+\]\s*\+\+/ : drop duplicates by key
  /\[[^\]]+\]\s*\+=/ : sum by group, totals per key
  /\[[^\]]+\]\s*\+\+|\+\+\w+\[/ : count by group
  /\+=/ : sum a column
  /[-+*\/]\s*\$\w|\$\w+\s*[-+*\/]\s*[\w(]/ : compute a column
  /[<>!=]=|[<>]\s*["\d]|~|(^|[\s'])\/.+\// : filter rows by a condition
  : select columns
  + /print[^|]*>\s*[("$a-z]/ : split into files by key
  + : of {files}
find
  -empty : find empty files
  -delete : delete {files}
  /-exec\w*\s+rm\b/ : delete {files}
  -name -iname -path -ipath -regex -size -mtime -mmin -newer -newermt -perm : find {files}
  :
  + -name -iname -path -ipath -regex : by name
  + -mtime -mmin -newer -newermt : by age
  + -size : by size
  + -perm : by permission
cp
  /\{#\}/ : number copies of {files} consecutively
  -r -a : copy a directory
  : copy {files}
mv
  /\{#\}/ : number {files} consecutively, batch rename with a counter
  /\/["']?\s*$/ : move {files} into folders
  : rename {files}
rename, prename, file-rename, mmv
  /\{#\}/ : number {files} consecutively, batch rename with a counter
  : batch rename {files}
unlink
  : delete {files}
rm
  -r : delete directories
  : delete {files}
shred
  : wipe files securely
rmdir
  : delete empty directories
ln
  -s : create symbolic links
  : create hard links
chmod
  /\+x|[1357]\d*\b/ : make files executable, set permissions
  : set file permissions
chown, chgrp
  : change the owner of files
setfacl
  : set access control lists
touch
  : set file timestamps
stat
  : file size and date
tar
  /^[a-zA-Z]*x[a-zA-Z]*(\s|$)|(^|\s)-[a-zA-Z]*x[a-zA-Z]*(\s|$)|--extract/ : extract a tar archive
  /^[a-zA-Z]*t[a-zA-Z]*(\s|$)|(^|\s)-[a-zA-Z]*t[a-zA-Z]*(\s|$)|--list/ : list a tar archive
  : create a compressed tar archive
zip, 7z
  : create a zip archive
unzip
  -l -t : list a zip archive
  : extract a zip archive
gzip, xz, bzip2, zstd
  -d : decompress files
  : compress {files}
gunzip, zcat, unxz, bunzip2
  : decompress files
rsync
  --delete : mirror a directory
  : synchronise directories
scp, sftp
  : copy files to a server
ssh
  : run a command on a server
sha256sum, sha1sum, sha512sum, md5sum, b2sum, cksum, shasum
  -c : verify checksums
  : compute checksums of files
git init
  : create a git repository
git clone
  : clone a git repository
git commit
  : commit changes to git
git branch
  -d : delete a git branch
  /^\w/ : create a git branch
  : list git branches
git switch
  -c : create a git branch
  : switch git branches
git checkout
  -b : create a git branch
  /(^|\s)--\s/ : undo git changes
  : switch git branches
git merge
  : merge git branches
git tag
  : tag a release in git
git revert
  : revert a git commit
git reset, git restore
  : undo git changes
git log, git shortlog, git rev-list
  : list git commits
git diff, git show
  : diff of git commits
git stash
  : stash git changes
git cherry-pick
  : cherry-pick git commits
git rebase
  : rebase a git branch
git push
  : push to a git remote
git pull, git fetch
  : pull from a git remote
git archive
  : export a git tree as an archive
git format-patch
  : export git commits as patch files
git am, git apply
  : apply patches with git
git blame
  : who changed a line in git
git bisect
  : bisect git commits
git rm
  : delete files in git
git mv
  : rename files in git
git grep
  : search a git repository
sqlite3, psql, mysql, duckdb
  /(?i)\.import|\\copy\s.*\sfrom\s/ : import csv into a database
  /(?i)\binsert\s+into/ : insert rows into a database
  /(?i)\bupdate\s+\w+\s+set/ : update rows of a database
  /(?i)\bdelete\s+from/ : delete rows of a database
  /(?i)\balter\s+table/ : alter a database table
  /(?i)\bcreate\s+(unique\s+)?index/ : create a database index
  /(?i)\.dump/ : dump a database
  /(?i)\bjoin\b/ : join database tables with sql
  /(?i)\bgroup\s+by\b/ : sql group by, totals per group
  /(?i)\bselect\b/ : sql query of a database
  : run sql in a database
  + /(?is)^(?!.*\.import).*(-csv|\.mode csv|\bto\b.*csv)/ : exported as csv
pg_dump, mysqldump
  : dump a database
python
  /-m\s+venv/ : create a virtual environment (venv)
  /-m\s+pip/ : install python packages with pip
  /-m\s+json\.tool/ : validate and format json
  /-m\s+http\.server/ : serve files over http
  /-m\s+unittest|-m\s+pytest/ : run tests
  /\.py\b/ : run a python script
pip, pip install
  : install python packages with pip
pytest, tox
  : run tests
jq
  /@csv|@tsv/ : convert json to csv
  /select\(/ : filter json
  /(^|\s)empty\b/ : check json syntax
  /\|=|\bdel\(/ : update json
  /group_by|add\b|length/ : aggregate json
  : query json
yq
  : query yaml
xmllint
  : validate xml
bc
  : calculate
convert, magick, mogrify
  /-resize|-thumbnail|-scale/ : resize images
  /-crop|-trim/ : crop images
  /-rotate|-auto-orient/ : rotate images
  /-annotate|-draw|-composite/ : watermark images
  : convert image format
img2pdf
  : convert images to pdf
montage
  : contact sheet of images
exiftool
  : read or edit photo metadata (exif)
ffmpeg, sox, lame, flac, opusenc
  /(^|\s)-ss\s|(^|\s)-t\s|trim/ : cut audio or video
  /concat/ : concatenate audio or video
  : transcode audio or video
ffprobe, mediainfo, soxi
  : length of audio or video
pandoc, libreoffice, soffice
  : convert document format
pdfunite
  : merge pdf files
pdfseparate
  : split pdf pages
qpdf, pdftk
  /--split-pages|burst/ : split pdf pages
  /--encrypt/ : encrypt a pdf
  : merge pdf pages
pdftotext
  : extract text from pdf
pdftoppm
  : render pdf pages as images
gcc, cc, clang, g++
  : compile a C program
make, cmake
  : build with make
curl, wget
  /(^|\s)(-d|--data\S*|-X|-F)\s/ : send an http request
  : download from a url
gpg, openssl, age
  /(^|\s)(-d|--decrypt|-decrypt)\b/ : decrypt files
  /--verify|-verify/ : verify a signature
  : encrypt or sign files
du
  : disk usage of directories
date
  -d : date arithmetic
df
  : free disk space
crontab
  : schedule a cron job
envsubst
  : fill in a template
ed, ex, nano, vi, vim, emacs
  : edit {files} in a text editor
docker, podman
  : run a container
"""


@dataclass(frozen=True)
class _Line:
    is_added: bool
    options: frozenset[str]
    pattern: re.Pattern[str] | None
    words: str

    def holds(self, options: frozenset[str], typed: str) -> bool:
        if self.pattern is not None:
            return self.pattern.search(typed) is not None
        return not self.options or not self.options.isdisjoint(options)


_LINE = re.compile(r"  (?P<added>\+ )?(?:/(?P<pattern>.*)/ |(?P<options>(?:-\S+ )*)):(?: (?P<words>.+))?")


def techniques_of(commands: Iterable[str], effects: Collection[NetEffect] = ()) -> tuple[str, ...]:
    """What the commands of a method do in technical words, each once and in order; at most ``MAX_TECHNIQUES``.

    What cannot be read, and programs that the table does not have, say nothing. ``effects`` are what the commands
    together did to files.
    """
    lines = list(commands)
    calls = [_calls(line) for line in lines]
    assignments = assignments_in(lines, calls)
    left_out = auxiliary_calls(calls, assignments, effects)
    counters = counters_in("\n".join(lines))
    found: dict[str, None] = {}
    for number, line in enumerate(calls):
        for position, call in enumerate(line):
            if (number, position) in left_out:
                continue
            if said := _said(call, with_running_number(call, assignments, counters)):
                found[said] = None
    return tuple(found)[:MAX_TECHNIQUES]


def _calls(command: str) -> tuple[Call, ...]:
    try:
        return calls_in(command)
    except UnreadableCommand:
        return ()


def _said(call: Call, words: Sequence[str]) -> str:
    read = read_call(call.program, call.arguments)
    lines = _lines().get(read.program, ())
    typed = " ".join(words)
    letters = {
        f"{one.name}={letter}"
        for one in read.arguments
        if one.name
        for value in one.values
        for letter in value
        if letter.isalpha()
    }
    options = read.flags | letters
    first = next((line for line in lines if not line.is_added and line.holds(options, typed)), None)
    if first is None or not first.words:
        return ""
    added = (line.words for line in lines if line.is_added and line.holds(options, typed))
    return " ".join((first.words, *added)).replace("{files}", _files(words))


def _files(arguments: Sequence[str]) -> str:
    found = (_KINDS.get(one.lower()) for word in arguments for one in _EXTENSION.findall(word))
    kinds = list(dict.fromkeys(kind for kind in found if kind))[:_NAMED_KINDS]
    return f"{' and '.join(kinds)} files" if kinds else "files"


def options_by_program() -> dict[str, frozenset[str]]:
    """The programs of the table with the options that it asks for."""
    return {
        name: frozenset[str]().union(*(line.options for line in lines)) for name, lines in _lines().items()
    }


@cache
def _lines() -> dict[str, tuple[_Line, ...]]:
    table: dict[str, tuple[_Line, ...]] = {}
    for names, _, lines in table_blocks(_TABLE):
        table |= dict.fromkeys(names, tuple(map(_read, lines)))
    return table


def _read(line: str) -> _Line:
    found = _LINE.fullmatch(line)
    if found is None:
        raise ValueError(f"no line of the table of techniques: {line!r}")
    pattern = re.compile(found["pattern"]) if found["pattern"] is not None else None
    return _Line(
        found["added"] is not None, frozenset((found["options"] or "").split()), pattern, found["words"] or ""
    )
