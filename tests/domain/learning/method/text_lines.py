"""Command lines that work on text, each with all of its facts: a line with ``$`` and one line for each fact."""

TEXT = r"""
$ sort -t, -k2 -nr data.csv
fields are separated by ','
sorted by field 2
compared as numbers
largest first (descending)
reads 'data.csv'

$ sort -k2,2 -k1,1nr a.txt > b.txt
sorted by field 2 only
then by field 1 only, as numbers, largest first (descending)
reads 'a.txt'
writes 'b.txt'

$ sort -u names.txt -o names.txt
equal lines are kept once
reads 'names.txt'
writes 'names.txt'

$ sort --field-separator=';' --key=3,4 --reverse x
fields are separated by ';'
sorted by fields 3 to 4
in descending order
reads 'x'

$ sort -f -b words
upper and lower case count as equal
blanks at the start are not compared
reads 'words'

$ sort -h sizes
compared as sizes such as 2K and 1G
reads 'sizes'

$ sort -V versions
compared as version numbers
reads 'versions'

$ sort -t $'\t' -k3n x.tsv
fields are separated by a tab
sorted by field 3, as numbers
reads 'x.tsv'

$ cut -d: -f1,3 /etc/passwd
fields are separated by ':'
only fields 1 and 3
reads '/etc/passwd'

$ cut -d ' ' -f 2- log
fields are separated by a space
only fields 2 to the last
reads 'log'

$ cut -c1-8 x
only characters 1 to 8
reads 'x'

$ cut -f-3,5 --output-delimiter=, t.tsv
only fields 1 to 3 and 5
fields are joined by ','
reads 't.tsv'

$ cut -d, -f2 --complement -s t.csv
fields are separated by ','
only field 2
all but those chosen are kept
lines without the separator are left out
reads 't.csv'

$ uniq -c sorted.txt counted.txt
each line has the number of its occurrences before it
reads 'sorted.txt'
writes 'counted.txt'

$ uniq -d -i x
only lines that occur more than once
upper and lower case count as equal
reads 'x'

$ uniq -u -f 1 x
only lines that occur once
the first 1 fields are not compared
reads 'x'

$ head -n 10 x
only the first 10 lines
reads 'x'

$ head -n1 x
only the first line
reads 'x'

$ head -20 x
only the first 20 lines
reads 'x'

$ head -n -2 x
all but the last 2 lines
reads 'x'

$ head -c 100 x
only the first 100 bytes
reads 'x'

$ tail -n +2 data.csv
from line 2 on
reads 'data.csv'

$ tail -5 x
only the last 5 lines
reads 'x'

$ tail --lines=3 x y
only the last 3 lines
reads 'x' and 'y'

$ tail -c +11 x
from byte 11 on
reads 'x'

$ tr a-z A-Z < in.txt > out.txt
every character of 'a-z' becomes the one at its place in 'A-Z'
reads 'in.txt'
writes 'out.txt'

$ tr -d '\r' < dos.txt
every character of '\r' is deleted
reads 'dos.txt'

$ tr -s ' ' x
every character of a space becomes the one at its place in 'x'
repeated characters of the result become one

$ tr -s '[:space:]'
repeated characters of '[:space:]' become one

$ tr -cd '[:alnum:]\n'
every character but those of '[:alnum:]\n' is deleted

$ grep ERROR app.log
only lines that match 'ERROR'
reads 'app.log'

$ grep -v '^#' conf
only lines that do not match '^#'
reads 'conf'

$ grep -Eio '[a-z]+@[a-z.]+' a.txt
only lines that match '[a-z]+@[a-z.]+' (extended regular expression)
upper and lower case count as equal
only the matching part of each line
reads 'a.txt'

$ grep -F 'a.b' x
only lines that contain the text 'a.b'
reads 'x'

$ grep -c -w todo notes.md
only lines that match 'todo'
only whole words match
the number of such lines is given
reads 'notes.md'

$ grep -rl --include='*.py' TODO src
only lines that match 'TODO'
folders are searched with all they hold
only the names of files with such lines are given
only files named '*.py'
reads 'src'

$ grep -e a -e b -A 2 -B1 x
only lines that match 'a'
only lines that match 'b'
with 2 lines after each match
with 1 lines before each match
reads 'x'

$ grep -vFf stop.txt words.txt
only lines that contain none of the texts in 'stop.txt'
reads 'words.txt'

$ grep -P '\d{4}' -m 3 x
only lines that match '\d{4}' (Perl regular expression)
stops after 3 such lines
reads 'x'

$ sed -E 's/a/b/g' x
every 'a' (extended regular expression) is replaced by 'b'
reads 'x'

$ sed 's/foo/bar/' x
the first 'foo' of each line is replaced by 'bar'
reads 'x'

$ sed -i 's|/old|/new|g' conf.ini
every '/old' is replaced by '/new'
the file is changed in place
reads 'conf.ini'

$ sed -i.bak 's/ *$//' x
the first ' *$' of each line is removed
the file is changed in place, the former one is kept with '.bak' after its name
reads 'x'

$ sed -e '1d' -e 's/,/;/g' x.csv
line 1 is deleted
every ',' is replaced by ';'
reads 'x.csv'

$ sed '/^$/d; s/x/y/2' x
lines that match '^$' are deleted
'x' number 2 of each line is replaced by 'y'
reads 'x'

$ sed -n '5,10p' x
only lines 5 to 10 are printed
reads 'x'

$ sed -n '/start/,/end/p' x
only lines from 'start' to 'end' are printed
reads 'x'

$ sed '2,$s/a/b/gI' x
on lines 2 to the last: every 'a' (in any case) is replaced by 'b'
reads 'x'

$ sed '$d' x
the last line is deleted
reads 'x'

$ sed 10q x
stops after line 10
reads 'x'

$ sed '1i name,amount' x
edited by the sed script '1i name,amount'
reads 'x'

$ sed -f fix.sed x
edited by the sed script in 'fix.sed'
reads 'x'

$ awk -F, '{s[$1]+=$3} END {for (k in s) print k, s[k]}' sales.csv
fields are separated by ','
awk program '{s[$1]+=$3} END {for (k in s) print k, s[k]}'
reads 'sales.csv'

$ awk '$3 > 100' x
awk program '$3 > 100'
reads 'x'

$ awk -v min=5 -v OFS='\t' 'NR>1 && $2>=min {print $1,$2}' x
the awk variable 'min' is '5'
the awk variable 'OFS' is '\t'
awk program 'NR>1 && $2>=min {print $1,$2}'
reads 'x'

$ awk -f sum.awk x y
the awk program is in 'sum.awk'
reads 'x' and 'y'

$ paste -d, a.txt b.txt > c.csv
columns are joined by ','
reads 'a.txt' and 'b.txt'
writes 'c.csv'

$ paste -sd+ nums
all lines of a file become one line
columns are joined by '+'
reads 'nums'

$ join -t, -1 2 -2 1 orders.csv customers.csv
fields are separated by ','
the first file is joined by its field 2
the second file is joined by its field 1
reads 'orders.csv' and 'customers.csv'

$ join -a 1 -e NULL -o 1.1,2.2 a b
lines of file 1 without a partner are kept
missing fields are filled with 'NULL'
gives the fields '1.1,2.2'
reads 'a' and 'b'

$ comm -12 a b
lines of the first file only are left out
lines of the second file only are left out
reads 'a' and 'b'

$ comm -3 a b
lines of both files are left out
reads 'a' and 'b'

$ diff -u old.txt new.txt > change.patch
differences are given in unified form
reads 'old.txt' and 'new.txt'
writes 'change.patch'

$ diff -U 1 old.txt new.txt
differences are given in unified form, with 1 lines around each
reads 'old.txt' and 'new.txt'

$ diff -rq left right
folders are compared with all they hold
says only which files differ
reads 'left' and 'right'

$ patch -p1 < change.patch
the first 1 folders of each name are left off
reads 'change.patch'

$ patch notes.txt -i change.patch
changes 'notes.txt'
reads 'change.patch'

$ wc -l x
counts lines
reads 'x'

$ wc -w -c x
counts words
counts bytes
reads 'x'

$ column -t -s, x.csv
columns are lined up
fields are separated by ','
reads 'x.csv'

$ tee -a log.txt
adds to the end of what is there
writes 'log.txt'

$ split -l 1000 -d big.csv part-
pieces of 1000 lines
the pieces are numbered
reads 'big.csv'
names of the pieces begin with 'part-'

$ split -b 10M --additional-suffix=.bin big
pieces of 10M bytes
names of the pieces end with '.bin'
reads 'big'

$ csplit -f part -n 3 book.md '/^# /' '{*}'
names of the pieces begin with 'part'
the pieces have numbers of 3 digits
reads 'book.md'
split at '/^# /' and '{*}'

$ fold -s -w 72 x
lines are broken at blanks
lines are at most 72 characters wide
reads 'x'

$ nl -ba x
numbers the lines 'a'
reads 'x'

$ shuf -n 5 --random-source=seed x
only 5 lines, chosen by chance
chance is taken from 'seed'
reads 'x'

$ cat a b >> c
reads 'a' and 'b'
adds to the end of 'c'

$ cat -n x
lines are numbered
reads 'x'

$ printf '%s,%d\n' Ann 42 > row.csv
in the form '%s,%d\n'
given 'Ann' and '42'
writes 'row.csv'

$ echo "total: 5" > t
the text 'total: 5'
writes 't'

$ echo -n it\'s
without a newline at the end
the text "it's"

$ seq 1 2 9
counts from 1 to 9 in steps of 2

$ seq -w -s, 10
all numbers have the same width
numbers are joined by ','
counts from 1 to 10

$ iconv -f ISO-8859-1 -t UTF-8 -o out.txt in.txt
from the encoding 'ISO-8859-1'
to the encoding 'UTF-8'
reads 'in.txt'
writes 'out.txt'

$ base64 -d x.b64 > x
decoded
reads 'x.b64'
writes 'x'

$ base64 -w 0 x
lines are 0 characters wide
reads 'x'

$ jq -r '.items[] | .name' data.json
texts are given without quotes
jq filter '.items[] | .name'
reads 'data.json'

$ jq --arg who Ann -c 'select(.name == $who)' x.json
the jq variable 'who' is 'Ann'
each result is one line
jq filter 'select(.name == $who)'
reads 'x.json'

$ jq -s add a.json b.json
all inputs become one array
jq filter 'add'
reads 'a.json' and 'b.json'

$ sha256sum -c SHA256SUMS
digests are checked
reads 'SHA256SUMS'

$ md5sum *.jpg | sort | uniq -w32 -dD
reads '*.jpg'
only the first 32 characters are compared
only lines that occur more than once
all lines that occur more than once

$ cmp -s a b
says nothing
reads 'a' and 'b'

$ tac x | rev
reads 'x'

$ grep -c . x | awk '{print $1*2}' > y
only lines that match '.'
the number of such lines is given
reads 'x'
awk program '{print $1*2}'
writes 'y'
"""
