"""Table of tools: make, compilers, Python, databases, converters of pictures, sound and documents, network.

The notation is that of ``program_forms``; the meanings follow the manuals of GCC 13, SQLite 3.4x, ImageMagick 7,
FFmpeg 6, curl 8 and pandoc 3.
"""

TOOL_PROGRAMS = r"""
make
  -C --directory = : in the folder {}
  -f --file --makefile =input : the Makefile is {}
  -j --jobs =? : {at_once}
  -B --always-make : everything is made anew
  -n --dry-run --just-print : nothing is changed
  -k --keep-going : goes on after failures
  -s --silent --quiet : -
  -i --ignore-errors : failures are ignored
  @ value* : {make_targets}
gcc, g++, cc, c++, clang, clang++
  -o =output
  -c : compiled without linking
  -S : to assembly
  -E : only preprocessed
  -g =? : with debugging information
  -O =? : optimised[ at level {0}]
  -W =? : warnings {}
  -std = : with the language standard {}
  -D = : with the definition {}
  -U = : without the definition {}
  -I = : headers are in {}
  -L = : libraries are in {}
  -l = : with the library {}
  -f =? : with the setting {}
  -m =? : for the machine {}
  -x = : in the language {}
  -pthread : with threads
  -shared : a shared library
  -static : without shared libraries
  -fPIC : with code for any place
  -pedantic : -
  -v : -
  @ input*
ar, ranlib ; bundle
  -r : members are replaced or added
  -c : the archive is made
  -s : with an index
  -t : lists
  -x : unpacks
  -v : -
  @ output : the archive is {}
  @ input* : with {}
python ; stop
  -m =rest : runs the module {}
  -c =rest : runs the Python program {}
  -u : -
  -B : -
  -O : without assertions
  -I : apart from the environment
  -E : without variables of the environment
  -s : -
  -W = : warnings {}
  -X = : with the setting {}
  -V --version : its version
  @ input : runs the script {}
node, ruby, Rscript, php, lua ; stop
  -e --eval =rest : runs the program {}
  -r --require = : with {}
  @ input : runs the script {}
pip ; sub
  -q --quiet : -
  -v --verbose : -
pip install, pip download, pip wheel
  -r --requirement =input : the requirements are in {}
  -c --constraint =input : the limits of versions are in {}
  -e --editable = : editable from {}
  -U --upgrade : the newest version
  -q --quiet : -
  -t --target =output : to the folder {}
  -d --dest =output : to the folder {}
  -i --index-url = : from the index {}
  -f --find-links = : from {}
  --extra-index-url = : also from the index {}
  --user : for the user alone
  --no-deps : without what they need
  --no-cache-dir : -
  --no-index : from no index
  --pre : with versions that are not final
  @ value* : the package {}
pip uninstall, pip show
  -y --yes : -
  -r --requirement =input : the requirements are in {}
  @ value* : the package {}
pip freeze, pip list
  -l --local : -
  --format = : in the form {}
npm, npx, yarn, docker, cargo, go, apt, apt-get, systemctl, kubectl, uv ; sub
sqlite3 ; words
  -header -headers : with a header line
  -noheader : without a header line
  -csv : as CSV
  -json : as JSON
  -line : one value a line
  -column : in columns
  -list : -
  -markdown : as Markdown
  -box : -
  -table : as a table
  -tabs : separated by tabs
  -html : as HTML
  -separator = : columns are joined by {}
  -nullvalue = : NULL is shown as {}
  -cmd =expression : SQL or command {}
  -init =input : commands of {} first
  -readonly : without changing it
  -batch : -
  -bail : stops at the first failure
  @ input : the database {}
  @ expression* : SQL or command {}
psql
  -d --dbname = : the database {}
  -c --command =expression : SQL or command {}
  -f --file =input
  -U --username = : as the user {}
  -h --host = : on the host {}
  -p --port = : on the port {0}
  -t --tuples-only : only rows
  -A --no-align : not lined up
  -F --field-separator = : columns are joined by {}
  -o --output =output
  @ value : the database {}
  @ value : as the user {}
convert, magick ; words
  -resize = : resized to {}
  -scale = : scaled to {}
  -thumbnail = : as a thumbnail of {}
  -quality = : with the quality {}
  -rotate = : rotated by {0} degrees
  -crop = : cut to {}
  -gravity = : placed at {}
  -extent = : extended to {}
  -background = : with the background {}
  -fill = : filled with {}
  -density = : with the density {}
  -colorspace = : in the colour space {}
  -depth = : with {0} bits a colour
  -type = : of the type {}
  -blur = : blurred by {}
  -sharpen = : sharpened by {}
  -border = : with a border of {}
  -bordercolor = : with a border coloured {}
  -annotate =2 : with the text {}
  -draw =expression : drawn {}
  -font = : with the font {}
  -pointsize = : with letters of size {0}
  -geometry = : at {}
  -tile = : tiled {}
  -delay = : with a delay of {0}
  -loop = : repeated {0} times
  -format =expression : in the form {}
  -size = : with the size {}
  -threshold = : with the threshold {}
  -level = : with the levels {}
  -modulate = : modulated by {}
  -interlace = : interlaced {}
  -set =2 : with the setting {}
  -auto-orient : turned upright
  -strip : without notes about the picture
  -trim : without plain borders
  -flip : upside down
  -flop : mirrored
  -append : one below the other
  +append : side by side
  -negate : with inverted colours
  -normalize : with normal contrast
  -composite : laid over each other
  +repage : -
  @ input*
  @ output
mogrify ; words
  -path =output : in the folder {}
  -format = : to the format {}
  -resize = : resized to {}
  -quality = : with the quality {}
  -rotate = : rotated by {0} degrees
  -crop = : cut to {}
  -density = : with the density {}
  -colorspace = : in the colour space {}
  -auto-orient : turned upright
  -strip : without notes about the picture
  -trim : without plain borders
  @ output* : changes {}
identify ; words
  -format =expression : in the form {}
  -verbose : with all details
  @ input*
pdftotext, pdftoppm, pdftocairo, pdfseparate, pdfimages ; words
  -f = : from page {0} on
  -l = : up to page {0}
  -r = : with {0} dots an inch
  -x = : from column {0}
  -y = : from row {0}
  -W = : {0} wide
  -H = : {0} high
  -enc = : in the encoding {}
  -layout : the layout is kept
  -raw : in the order of the document
  -table : tables are kept
  -nopgbrk : without page breaks
  -htmlmeta : as HTML
  -bbox : with places
  -png : as PNG
  -jpeg : as JPEG
  -singlefile : only one page
  -all : -
  -j : JPEG stays as it is
  -q : -
  -scale-to = : scaled to {0}
  @ input
  @ output
pdfunite
  @ input*
  @ output
qpdf ; words
  --pages =list : the pages {}
  --linearize : for the web
  --decrypt : without a password
  --empty : from nothing
  @ input*
  @ output
ffmpeg, ffprobe ; words
  -i =input
  -vf -filter:v =expression : with the video filter {}
  -af -filter:a =expression : with the sound filter {}
  -filter_complex =expression : with the filter {}
  -ss = : starts at {}
  -t = : lasts {}
  -to = : ends at {}
  -c -codec = : with the codec {}
  -c:v -vcodec = : with the video codec {}
  -c:a -acodec = : with the sound codec {}
  -b:v = : with the video rate {}
  -b:a = : with the sound rate {}
  -r -framerate = : {0} pictures a second
  -ar = : with the sampling rate {0}
  -ac = : with {0} sound channels
  -crf = : with the quality {0}
  -preset = : with the preset {}
  -q:a -q:v -qscale:v -qscale:a = : with the quality {0}
  -s = : with the size {}
  -f = : in the format {}
  -map = : with the stream {}
  -metadata = : with the metadata {}
  -frames:v -vframes = : {0} pictures
  -pix_fmt = : with pixels of {}
  -loop = : repeated {0} times
  -threads = : with {0} threads
  -loglevel -v = : -
  -show_entries = : with the entries {}
  -of -print_format = : in the form {}
  -an : without sound
  -vn : without pictures
  -sn : without subtitles
  -y : -
  -n : files that are there are not overwritten
  -shortest : as long as the shortest
  -hide_banner : -
  -nostdin : -
  @ output*
pandoc
  -f -r --from --read = : from the format {}
  -t -w --to --write = : to the format {}
  -o --output =output
  -s --standalone : a whole document
  -M --metadata = : with the metadata {}
  -V --variable = : with the variable {}
  -c --css =input : with the style sheet {}
  -N --number-sections : sections are numbered
  -H --include-in-header =input : with {} in the head
  -B --include-before-body =input : with {} before the text
  -A --include-after-body =input : with {} after the text
  --template =input : with the template {}
  --toc --table-of-contents : with a table of contents
  --toc-depth = : with a table of contents {0} levels deep
  --columns = : lines are at most {0} characters wide
  --wrap = : with line breaks {}
  --pdf-engine = : with the engine {}
  --filter =input : with the filter {}
  --lua-filter =input : with the filter {}
  --title = : with the title {}
  --self-contained --embed-resources : with everything it needs
  @ input*
curl
  -o --output =output
  -O --remote-name : named as there
  -L --location : follows redirections
  -X --request = : with the method {}
  -H --header = : with the header {}
  -d --data --data-raw --data-binary =expression : sends {}
  --data-urlencode =expression : sends {}
  --json =expression : sends {} as JSON
  -F --form =expression : sends the form {}
  -G --get : the data are part of the address
  -T --upload-file =input : sends {}
  -u --user = : with a user name and password
  -A --user-agent = : as {}
  -b --cookie = : with the cookies {}
  -c --cookie-jar =output : cookies go to {}
  -e --referer = : coming from {}
  -w --write-out = : shows {}
  -m --max-time = : at most {0} seconds
  -K --config =input : with the settings in {}
  -x --proxy = : through {}
  -I --head : only the headers
  -i --include : with the headers
  -s --silent : -
  -S --show-error : -
  -f --fail : failures of the server are failures
  -k --insecure : certificates are not checked
  -C --continue-at = : goes on at {}
  -v --verbose : -
  --create-dirs : -
  --retry = : tries {0} more times
  --compressed : -
  --connect-timeout = : connects within {0} seconds
  --url =input : from {}
  @ input* : from {}
wget
  -O --output-document =output
  -P --directory-prefix =output : to the folder {}
  -q --quiet : -
  -c --continue : goes on with what is there
  -r --recursive : with the pages it links to
  -l --level = : at most {0} levels deep
  -A --accept = : only {}
  -R --reject = : leaves out {}
  -i --input-file =input : the addresses are in {}
  -N --timestamping : only what is newer
  -np --no-parent : not above the address
  -nc --no-clobber : files that are there are not overwritten
  --header = : with the header {}
  @ input* : from {}
ssh ; command
  -p = : on the port {0}
  -i =input : with the key {}
  -l = : as the user {}
  -o = : with the setting {}
  -L = : with the tunnel {}
  -R = : with the tunnel back {}
  -D = : with the proxy {}
  -N : without a command
  -T : -
  -t : -
  -q : -
  -A : -
  -C : -
  -v : -
  @ value : on the host {}
  @ expression* : runs there {joined}
"""
