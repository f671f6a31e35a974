"""Command lines that work on files, archives and tools, with all of their facts, as in ``text_lines``."""

FILES = r"""
$ find . -name '*.log' -mtime +7
looks in '.'
named '*.log'
changed more than 7 days ago

$ find src -type f -size +1M -maxdepth 2
looks in 'src'
only files
larger than 1M
at most 2 levels deep

$ find . -iname '*.JPG' -not -path './old/*' -print0
looks in '.'
named '*.JPG' in any case
not with the path './old/*'
names are separated by NUL

$ find . -type d -empty -delete
looks in '.'
only folders
only what is empty
what is found is deleted

$ find . -name '*.txt' -exec wc -l {} +
looks in '.'
named '*.txt'
counts lines

$ find . \( -name a -o -name b \) -newer ref
looks in '.'
named 'a'
or
named 'b'
changed after 'ref'

$ ls *.txt | xargs -n 2 -P 4 wc -w
'*.txt' is listed
2 arguments at a time
4 at the same time
counts words

$ find . -name '*.png' | xargs -I{} convert {} -resize 50% out/{}
looks in '.'
named '*.png'
resized to '50%'
writes 'out/{}'

$ tar -czf backup.tar.gz docs notes.txt
packs
compressed with gzip
the archive is 'backup.tar.gz'
packs 'docs' and 'notes.txt'

$ tar xzf a.tgz -C out --strip-components=1
unpacks
compressed with gzip
the archive is 'a.tgz'
in the folder 'out'
the first 1 folders of each name are left off

$ tar --exclude='*.tmp' -cJf b.tar.xz data
leaves out '*.tmp'
packs
compressed with xz
the archive is 'b.tar.xz'
packs 'data'

$ tar tf a.tar
lists
the archive is 'a.tar'

$ zip -r site.zip site -x '*.git*'
folders with all they hold
writes 'site.zip'
packs 'site'
leaves out '*.git*'

$ unzip -o a.zip -d out
files that are there are overwritten
in the folder 'out'
reads 'a.zip'

$ gzip -9k big.log
compressed as much as possible
the file itself is kept
reads 'big.log'

$ gunzip -c a.gz > a
result goes to standard output
reads 'a.gz'
writes 'a'

$ cp -r src dst
folders with all they hold
from 'src'
to 'dst'

$ cp a b c dir
from 'a', 'b' and 'c'
to 'dir'

$ cp -t dir a b
to 'dir'
from 'a' and 'b'

$ cp -a --backup=numbered x y
folders with all they hold, with times and permissions
option '--backup' is 'numbered'
from 'x'
to 'y'

$ mv -n IMG_001.jpg holiday.jpg
files that are there are not overwritten
from 'IMG_001.jpg'
to 'holiday.jpg'

$ ln -s ../data current
a symbolic link
to 'current'
from '../data'

$ mkdir -p out/2024
parents are made as well
makes the folder 'out/2024'

$ mkdir -m 700 private
with the permissions '700' (owner: read, write and execute; group: nothing; others: nothing)
makes the folder 'private'

$ rm -rf build
folders with all they hold
removes 'build'

$ chmod 640 secret.txt
with the permissions '640' (owner: read and write; group: read; others: nothing)
applies to 'secret.txt'

$ chmod +x run.sh
with the permissions '+x'
applies to 'run.sh'

$ chmod -R u=rwX,go=rX site
folders with all they hold
with the permissions 'u=rwX,go=rX'
applies to 'site'

$ chown ann:staff x
owner and group 'ann:staff'
applies to 'x'

$ touch -d '2024-01-01' x
with the time '2024-01-01'
makes or touches 'x'

$ date -d '+30 days' +%F
the time '+30 days'
in the form '%F' (year-month-day)

$ date +%Y%m%d
in the form '%Y%m%d'

$ date -I
in ISO 8601

$ date -u -Iseconds
in UTC
in ISO 8601, to 'seconds'

$ rsync -av --delete --exclude='*.o' src/ backup/
folders with all they hold, with times and permissions
what the source does not have is deleted
leaves out '*.o'
from 'src/'
to 'backup/'

$ cd work && ls -la
goes to the folder 'work'
with details
hidden ones as well

$ for f in *.csv; do tail -n +2 "$f" >> all.csv; done
for each of '*.csv'
from line 2 on
adds to the end of 'all.csv'

$ WIDTH=800; for i in a.jpg b.jpg; do convert "$i" -resize "${WIDTH}x" "small/$i"; done
WIDTH is '800'
for each of 'a.jpg' and 'b.jpg'
resized to '${WIDTH}x'
writes 'small/$i'

$ LC_ALL=C sort x
LC_ALL is 'C'
reads 'x'

$ export REGION=north
sets 'REGION=north'

$ tar czf "backup-$(date +%F).tgz" docs
in the form '%F' (year-month-day)
packs
compressed with gzip
the archive is 'backup-$(date +%F).tgz'
packs 'docs'

$ [ -f data.csv ] && echo yes
tests '-f data.csv'
the text 'yes'

$ test "$n" -gt 10
tests '$n -gt 10'

$ [[ $name == *.txt ]]
tests '$name == *.txt'

$ case $1 in start|stop) echo "$1";; *) echo usage;; esac
chosen by the patterns 'start', 'stop' and '*'
the text 'usage'

$ rename_all() { mv "$1" "new-$1"; }; rename_all a.txt
to 'new-$1'
function 'rename_all' is given 'a.txt'

$ for ((i=0;i<3;i++)); do touch file$i; done
calculates 'i=0;i<3;i++'
makes or touches 'file$i'

$ cat > conf.ini <<'EOF'
[main]
level = 3
EOF
the text '[main] level = 3'
writes 'conf.ini'

$ wc -w <<< "one two"
the text 'one two'
counts words
"""

TOOLS = r"""
$ sqlite3 shop.db 'select count(*) from orders'
the database 'shop.db'
SQL or command 'select count(*) from orders'

$ sqlite3 -header -csv shop.db "select * from orders" > orders.csv
with a header line
as CSV
the database 'shop.db'
SQL or command 'select * from orders'
writes 'orders.csv'

$ sqlite3 shop.db < schema.sql
the database 'shop.db'
reads 'schema.sql'

$ sqlite3 shop.db ".mode csv" ".import orders.csv orders"
the database 'shop.db'
SQL or command '.mode csv' and '.import orders.csv orders'

$ git init -b main
the first branch is 'main'

$ git add report.md data
adds 'report.md' and 'data' to the next commit

$ git add -A
all changes are added

$ git rm -r -q --cached build
folders with all they hold
the files themselves stay
removes 'build' from version control

$ git commit -am 'Add the report'
all changed files are included
with the message 'Add the report'

$ git tag -a v1.2 -m "Release 1.2"
an annotated tag
the tag 'v1.2'
with the message 'Release 1.2'

$ git checkout -b feature/x
a new branch 'feature/x'

$ git switch -c topic main
a new branch 'topic'
goes to 'main'

$ git checkout main
checks out 'main'

$ git checkout -- notes.txt
checks out 'notes.txt'

$ git merge --no-ff feature -m 'Merge feature'
always with a merge commit
merges 'feature'
with the message 'Merge feature'

$ git branch -d feature
the branch is deleted
the branch 'feature'

$ git log --oneline -5 --since='2 weeks ago'
one line for each commit
only the last 5 commits
since '2 weeks ago'

$ git log --format='%h %s' v1.0..v1.1
in the form '%h %s'
of 'v1.0..v1.1'

$ git -C repo config user.name Ann
in the folder 'repo'
the setting 'user.name' and 'Ann'

$ git clone https://example.org/a.git work
from 'https://example.org/a.git'
to 'work'

$ git archive --format=tar --prefix=app/ -o app.tar HEAD
in the form 'tar'
names begin with 'app/'
writes 'app.tar'
of 'HEAD'

$ make -C src -j4 all CC=clang
in the folder 'src'
4 at the same time
makes 'all'
makes with 'CC=clang'

$ gcc -O2 -Wall -std=c11 -o prog main.c util.c -lm
optimised at level 2
warnings 'all'
with the language standard 'c11'
writes 'prog'
reads 'main.c' and 'util.c'
with the library 'm'

$ gcc -c -DNDEBUG -Iinclude main.c
compiled without linking
with the definition 'NDEBUG'
headers are in 'include'
reads 'main.c'

$ python3 clean.py raw.csv clean.csv
runs the script 'clean.py'
given 'raw.csv' and 'clean.csv'

$ python3 -m venv .venv
runs the module 'venv'
given '.venv'

$ python3 report.py --top 5 -q data.csv
runs the script 'report.py'
option '--top'
option '-q'
given '5' and 'data.csv'

$ python3 -c 'print(6*7)'
runs the Python program 'print(6*7)'

$ .venv/bin/python -m pip install tabulate
runs the module 'pip'
given 'install' and 'tabulate'

$ pip install -q -r requirements.txt
the requirements are in 'requirements.txt'

$ pip install requests==2.31 rich
the package 'requests==2.31' and 'rich'

$ convert photo.jpg -resize 800x -quality 85 small.jpg
resized to '800x'
with the quality '85'
reads 'photo.jpg'
writes 'small.jpg'

$ magick in.png -rotate 90 -crop 100x100+10+10 out.png
rotated by 90 degrees
cut to '100x100+10+10'
reads 'in.png'
writes 'out.png'

$ mogrify -path small -resize 50% *.jpg
in the folder 'small'
resized to '50%'
changes '*.jpg'

$ pdftotext -layout -f 2 -l 4 a.pdf a.txt
the layout is kept
from page 2 on
up to page 4
reads 'a.pdf'
writes 'a.txt'

$ ffmpeg -i in.mov -vf scale=640:-1 -r 25 -an out.mp4
reads 'in.mov'
with the video filter 'scale=640:-1'
25 pictures a second
without sound
writes 'out.mp4'

$ ffmpeg -ss 00:01:00 -t 30 -i in.mp3 -c copy out.mp3
starts at '00:01:00'
lasts '30'
reads 'in.mp3'
with the codec 'copy'
writes 'out.mp3'

$ curl -sL -o page.html https://example.org/page
follows redirections
writes 'page.html'
from 'https://example.org/page'

$ curl -X POST -H 'Content-Type: application/json' -d '{"a":1}' http://127.0.0.1/x
with the method 'POST'
with the header 'Content-Type: application/json'
sends '{"a":1}'
from 'http://127.0.0.1/x'

$ ssh backup@host 'df -h'
on the host 'backup@host'
runs there 'df -h'

$ pandoc -s -f markdown -t html --metadata title=Notes notes.md -o notes.html
a whole document
from the format 'markdown'
to the format 'html'
with the metadata 'title=Notes'
reads 'notes.md'
writes 'notes.html'

$ timeout 30 ./check.sh --strict in.txt
at most '30' long
option '--strict'
given 'in.txt'

$ mytool --level=3 -x in.txt
option '--level' is '3'
option '-x'
given 'in.txt'

$ bash -c 'sort -u a > b'
runs the shell script 'sort -u a > b'
equal lines are kept once
reads 'a'
writes 'b'

$ timeout 5 sh -c 'N=3; grep x a | head -$N' > b
at most '5' long
runs the shell script 'N=3; grep x a | head -$N'
N is '3'
only lines that match 'x'
reads 'a'
option '-' is '$N'
writes 'b'

$ sh -c 'for f in *.csv; do sort -u "$f" > out/"$f"; done'
runs the shell script 'for f in *.csv; do sort -u "$f" > out/"$f"; done'
for each of '*.csv'
equal lines are kept once
writes 'out/$f'

$ find . -name '*.txt' -exec sh -c 'sort -u "$1" > "$1.out"' _ {} \;
looks in '.'
named '*.txt'
runs the shell script 'sort -u "$1" > "$1.out"'
given '_'
equal lines are kept once
writes '$1.out'

$ bash build.sh release
runs the script 'build.sh'
given 'release'

$ xz -dk a.xz
decompressed
the file itself is kept
reads 'a.xz'

$ dos2unix -n a.txt b.txt
option '-n'
given 'a.txt' and 'b.txt'
"""
