"""Table of programs that work on lines and fields: sort, cut, grep, sed, awk, join, split and the like.

The notation is that of ``program_forms``; the meanings follow the manuals of GNU coreutils 9, grep 3, sed 4, jq 1.7.
"""

TEXT_PROGRAMS = r"""
sort
  -t --field-separator = : fields are separated by {}
  -k --key = : {key}
  -n --numeric-sort : compared as numbers
  -g --general-numeric-sort : compared as numbers
  -h --human-numeric-sort : compared as sizes such as 2K and 1G
  -V --version-sort : compared as version numbers
  -M --month-sort : compared as names of months
  -r --reverse : {descending}
  -u --unique : equal lines are kept once
  -f --ignore-case : upper and lower case count as equal
  -b --ignore-leading-blanks : blanks at the start are not compared
  -d --dictionary-order : only letters, digits and blanks are compared
  -s --stable : equal lines keep their order
  -R --random-sort : in an order by chance
  -c --check : only checks whether the lines are sorted
  -m --merge : merges files that are sorted already
  -z --zero-terminated : lines end with NUL
  -o --output =output
  -T --temporary-directory = : temporary files are in {}
  -S --buffer-size = : with a buffer of {}
  --parallel = : with {0} sorts at the same time
  @ input*
cut
  -d --delimiter = : fields are separated by {}
  -f --fields = : only {fields}
  -c --characters = : only {characters}
  -b --bytes = : only {bytes}
  -s --only-delimited : lines without the separator are left out
  -z --zero-terminated : lines end with NUL
  --complement : all but those chosen are kept
  --output-delimiter = : fields are joined by {}
  @ input*
uniq
  -c --count : each line has the number of its occurrences before it
  -d --repeated : only lines that occur more than once
  -D --all-repeated =? : all lines that occur more than once
  -u --unique : only lines that occur once
  -i --ignore-case : upper and lower case count as equal
  -f --skip-fields = : the first {0} fields are not compared
  -s --skip-chars = : the first {0} characters are not compared
  -w --check-chars = : only the first {0} characters are compared
  -z --zero-terminated : lines end with NUL
  @ input
  @ output
head
  -n --lines -# = : {head_lines}
  -c --bytes = : {head_bytes}
  -q --quiet --silent : without the names of the files
  -v --verbose : with the names of the files
  -z --zero-terminated : lines end with NUL
  @ input*
tail
  -n --lines -# = : {tail_lines}
  -c --bytes = : {tail_bytes}
  -f --follow =? : -
  -q --quiet --silent : without the names of the files
  -v --verbose : with the names of the files
  -z --zero-terminated : lines end with NUL
  @ input*
tr
  -d --delete : -
  -s --squeeze-repeats : -
  -c -C --complement : -
  -t --truncate-set1 : the first set is cut to the length of the second
  @ expression* : {tr}
grep, egrep, fgrep, zgrep
  -e --regexp =expression : {grep}
  -f --file =input : {grep_file}
  -E --extended-regexp : -
  -F --fixed-strings : -
  -P --perl-regexp : -
  -G --basic-regexp : -
  -v --invert-match : -
  -i -y --ignore-case : upper and lower case count as equal
  -w --word-regexp : only whole words match
  -x --line-regexp : only whole lines match
  -c --count : the number of such lines is given
  -o --only-matching : only the matching part of each line
  -l --files-with-matches : only the names of files with such lines are given
  -L --files-without-match : only the names of files without such lines are given
  -n --line-number : with the number of each line
  -h --no-filename : without the names of the files
  -H --with-filename : with the names of the files
  -q --quiet --silent : gives nothing but its exit status
  -s --no-messages : -
  -r --recursive : folders are searched with all they hold
  -R --dereference-recursive : folders are searched with all they hold
  -A --after-context = : with {0} lines after each match
  -B --before-context = : with {0} lines before each match
  -C --context -# = : with {0} lines around each match
  -m --max-count = : stops after {0} such lines
  -a --text : binary files are read as text
  -I : binary files are left out
  -z --null-data : lines end with NUL
  --color --colour =? : -
  --include = : only files named {}
  --exclude = : leaves out files named {}
  --exclude-dir = : leaves out folders named {}
  @ expression unless -e -f : {grep}
  @ input*
rg
  -e --regexp =expression : {grep}
  -F --fixed-strings : -
  -P --pcre2 : -
  -v --invert-match : -
  -i --ignore-case : upper and lower case count as equal
  -w --word-regexp : only whole words match
  -c --count : the number of such lines is given
  -o --only-matching : only the matching part of each line
  -l --files-with-matches : only the names of files with such lines are given
  -n --line-number : with the number of each line
  -N --no-line-number : without the number of each line
  -g --glob = : only files named {}
  -t --type = : only files of the type {}
  -r --replace = : each match is replaced by {}
  -A --after-context = : with {0} lines after each match
  -B --before-context = : with {0} lines before each match
  -C --context = : with {0} lines around each match
  @ expression unless -e : {grep}
  @ input*
sed
  -e --expression =expression : {sed}
  -f --file =input : edited by the sed script in {}
  -E -r --regexp-extended : -
  -n --quiet --silent : -
  -i --in-place =? : {in_place}
  -s --separate : each file is edited on its own
  -z --null-data : lines end with NUL
  -l --line-length = : lines are at most {0} characters wide
  -u --unbuffered : -
  @ expression unless -e -f : {sed}
  @ input*
awk, gawk, mawk
  -F --field-separator = : fields are separated by {}
  -v --assign = : the awk variable {assigned}
  -f --file =input : the awk program is in {}
  -e --source =expression : awk program {}
  -k --csv : fields are read as CSV
  -i --include =input
  @ expression unless -f -e : awk program {}
  @ input*
perl
  -e -E =expression : Perl program {}
  -n : for each line
  -p : for each line, which is printed
  -i =? : {in_place}
  -F = : fields are separated by {}
  -a : lines are split into fields
  -l : without the end of each line
  -0 =? : records end with NUL or the octal code[ {0}]
  -C =? : -
  @ input unless -e : runs the script {}
  @ input*
paste
  -d --delimiters = : columns are joined by {}
  -s --serial : all lines of a file become one line
  -z --zero-terminated : lines end with NUL
  @ input*
join
  -t = : fields are separated by {}
  -1 = : the first file is joined by its field {0}
  -2 = : the second file is joined by its field {0}
  -j = : both files are joined by their field {0}
  -a = : lines of file {0} without a partner are kept
  -v = : only lines of file {0} without a partner are given
  -e = : missing fields are filled with {}
  -o = : gives the fields {}
  -i --ignore-case : upper and lower case count as equal
  --header : the first line of each file is a header
  --check-order : -
  --nocheck-order : whether lines are sorted is not checked
  @ input*
comm
  -1 : lines of the first file only are left out
  -2 : lines of the second file only are left out
  -3 : lines of both files are left out
  -i : upper and lower case count as equal
  -z --zero-terminated : lines end with NUL
  --nocheck-order : whether lines are sorted is not checked
  --output-delimiter = : columns are joined by {}
  --total : with the number of lines of each kind
  @ input*
diff, colordiff
  -u : differences are given in unified form
  -U = : differences are given in unified form, with {0} lines around each
  --unified =? : differences are given in unified form[, with {0} lines around each]
  -c : differences are given in context form
  -y --side-by-side : files stand side by side
  -r --recursive : folders are compared with all they hold
  -q --brief : says only which files differ
  -s --report-identical-files : says which files are the same
  -i --ignore-case : upper and lower case count as equal
  -w --ignore-all-space : blanks are not compared
  -b --ignore-space-change : the number of blanks is not compared
  -B --ignore-blank-lines : empty lines are not compared
  -N --new-file : a file that is not there counts as empty
  -a --text : binary files are read as text
  -x --exclude = : leaves out {}
  -L --label = : with the name {}
  -W --width = : lines are at most {0} characters wide
  --color =? : -
  --strip-trailing-cr : line ends of DOS are not compared
  --suppress-common-lines : lines that are the same are left out
  @ input*
patch
  -p --strip = : the first {0} folders of each name are left off
  -i --input =input
  -o --output =output
  -R --reverse : the change is taken back
  -d --directory = : in the folder {}
  -N --forward : a change that is made already is left out
  -b --backup : the former file is kept
  -s --quiet --silent : -
  --dry-run : nothing is changed
  @ input : changes {}
  @ input
wc
  -l --lines : counts lines
  -w --words : counts words
  -c --bytes : counts bytes
  -m --chars : counts characters
  -L --max-line-length : gives the length of the longest line
  @ input*
column
  -t --table : columns are lined up
  -s --separator = : fields are separated by {}
  -o --output-separator = : columns are joined by {}
  -N --table-columns = : the columns are named {}
  -n = : the table is named {}
  -c --output-width = : lines are at most {0} characters wide
  -J --json : as JSON
  -R --table-right = : the columns {} stand to the right
  @ input*
tee
  -a --append : adds to the end of what is there
  -i --ignore-interrupts : -
  @ output*
split
  -l --lines -# = : pieces of {0} lines
  -b --bytes = : pieces of {0} bytes
  -C --line-bytes = : pieces of at most {0} bytes, lines kept whole
  -n --number = : {0} pieces
  -a --suffix-length = : the endings of the pieces have {0} characters
  -d : the pieces are numbered
  --numeric-suffixes =? : the pieces are numbered[ from {0}]
  -e --elide-empty-files : no empty pieces
  --additional-suffix = : names of the pieces end with {}
  --verbose : -
  @ input
  @ output : names of the pieces begin with {}
csplit
  -f --prefix =output : names of the pieces begin with {}
  -n --digits = : the pieces have numbers of {0} digits
  -b --suffix-format = : names of the pieces end in the form {}
  -k --keep-files : pieces are kept after an error
  -s -q --quiet --silent : -
  -z --elide-empty-files : no empty pieces
  @ input
  @ expression* : split at {}
fold, fmt
  -w --width = : lines are at most {0} characters wide
  -s --spaces : lines are broken at blanks
  @ input*
nl
  -b --body-numbering = : numbers the lines {}
  -w --number-width = : numbers are {0} characters wide
  -s --number-separator = : numbers are separated by {}
  -v --starting-line-number = : numbers start at {0}
  -n --number-format = : numbers have the format {}
  @ input*
shuf
  -n --head-count = : only {0} lines, chosen by chance
  -e --echo : the words given are the lines
  -i --input-range = : of the numbers {}
  -r --repeat : lines may be chosen again
  -o --output =output
  --random-source =input : chance is taken from {}
  @ input*
cat
  -n --number : lines are numbered
  -b --number-nonblank : lines that are not empty are numbered
  -s --squeeze-blank : several empty lines become one
  -A --show-all : -
  -e : -
  -E --show-ends : -
  -T --show-tabs : -
  -v : -
  @ input*
tac
  -s --separator = : pieces are separated by {}
  @ input*
rev, less, more, zcat
  @ input*
expand, unexpand
  -t --tabs = : a tab is {0} characters wide
  -i --initial : only at the start of each line
  -a --all : all blanks
  @ input*
printf
  @ expression : in the form {}
  @ value* : given {}
echo ; echo
  -n : without a newline at the end
  -e : escapes such as \n are read
  -E : -
  -ne -en : without a newline at the end, escapes such as \n are read
  @ value* : the text {joined}
seq ; numbers
  -s --separator = : numbers are joined by {}
  -w --equal-width : all numbers have the same width
  -f --format = : in the form {}
  @ value* : {seq}
iconv
  -f --from-code = : from the encoding {}
  -t --to-code = : to the encoding {}
  -c : characters that cannot be converted are left out
  -o --output =output
  @ input*
base64, base32
  -d -D --decode : decoded
  -w --wrap = : lines are {0} characters wide
  -i --ignore-garbage : other characters are left out
  @ input*
jq, yq
  -r --raw-output : texts are given without quotes
  -c --compact-output : each result is one line
  -s --slurp : all inputs become one array
  -n --null-input : no input is read
  -R --raw-input : lines are read as texts
  -S --sort-keys : keys are sorted
  -e --exit-status : the exit status is that of the last result
  -j --join-output : without newlines between results
  -f --from-file =input : the jq filter is in {}
  -C --color-output : -
  -M --monochrome-output : -
  --tab : indented with tabs
  --indent = : indented by {0}
  --arg =2 : the jq variable {named}
  --argjson =2 : the jq variable {named}
  --slurpfile =2 : the jq variable {named}
  --rawfile =2 : the jq variable {named}
  @ expression unless -f : jq filter {}
  @ input*
sha256sum, sha1sum, sha512sum, md5sum, b2sum, cksum, shasum
  -c --check : digests are checked
  -b --binary : -
  -t --text : -
  -a --algorithm = : with the algorithm {}
  --tag : with the name of the algorithm
  --quiet : only failures are said
  --status : gives nothing but its exit status
  --ignore-missing : missing files are left out
  @ input*
cmp
  -s --quiet --silent : says nothing
  -l --verbose : gives all differing bytes
  -b --print-bytes : gives the differing bytes
  -n --bytes = : only the first {0} bytes
  -i --ignore-initial = : the first {0} bytes are not compared
  @ input*
xargs
  -n --max-args = : {0} arguments at a time
  -P --max-procs = : {0} at the same time
  -L --max-lines = : {0} lines at a time
  -I =skip
  -0 --null : names are separated by NUL
  -d --delimiter = : names are separated by {}
  -a --arg-file =input
  -r --no-run-if-empty : nothing runs without input
  -t --verbose : -
  @ value*
"""
