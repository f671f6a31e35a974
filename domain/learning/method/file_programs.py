"""Table of programs that work on files, folders and archives: find, tar, cp, chmod, date, rsync.

The notation is that of ``program_forms``; the meanings follow the manuals of GNU findutils 4, tar 1.35, coreutils 9.
"""

FILE_PROGRAMS = r"""
find ; words find
  -name =expression : named {}
  -iname =expression : named {} in any case
  -path -wholename =expression : with the path {}
  -ipath =expression : with the path {} in any case
  -regex =expression : with a path that matches {}
  -iregex =expression : with a path that matches {} in any case
  -regextype = : with regular expressions of the kind {}
  -type = : {file_type}
  -size = : {size}
  -mtime = : changed {days}
  -atime = : read {days}
  -ctime = : changed in content or rights {days}
  -mmin = : changed {minutes}
  -amin = : read {minutes}
  -newer =input : changed after {}
  -newermt = : changed after {}
  -maxdepth = : at most {0} levels deep
  -mindepth = : at least {0} levels deep
  -perm = : with the permissions {}
  -user = : of the user {}
  -group = : of the group {}
  -links = : with {0} links
  -empty : only what is empty
  -executable : only what may be run
  -readable : only what may be read
  -writable : only what may be written
  -prune : without what it holds
  -delete : what is found is deleted
  -print : -
  -print0 : names are separated by NUL
  -printf =expression : in the form {}
  -fprint =output
  -ls : with details
  -quit : stops at the first
  -o -or : or
  -a -and : -
  -L : links are followed
  -P : -
  -H : -
  -xdev -mount : on the same file system
  -depth : what a folder holds comes before it
  -not : -
  @ input* : looks in {}
ls, dir
  -l : with details
  -a -A --all --almost-all : hidden ones as well
  -1 : -
  -h --human-readable : -
  -t : newest first
  -S : largest first
  -r --reverse : in descending order
  -R --recursive : folders with all they hold
  -d --directory : folders themselves
  -F --classify : -
  -i --inode : -
  --color =? : -
  @ input* : {} is listed
tree
  -L = : at most {0} levels deep
  -a : hidden ones as well
  -d : only folders
  -I = : leaves out {}
  -P = : only {}
  @ input* : {} is listed
tar, bsdtar ; bundle
  -c --create : packs
  -x --extract --get : unpacks
  -t --list : lists
  -r --append : adds to the archive
  -u --update : adds what is newer
  -z --gzip : compressed with gzip
  -j --bzip2 : compressed with bzip2
  -J --xz : compressed with xz
  -a --auto-compress : compressed as the name of the archive says
  --zstd : compressed with zstd
  -v --verbose : -
  -f --file =archive
  -C --directory = : in the folder {}
  -O --to-stdout : result goes to standard output
  -p --preserve-permissions : with permissions
  -P --absolute-names : names stay absolute
  -h --dereference : links are followed
  -k --keep-old-files : files that are there are not overwritten
  -T --files-from =input : the names are in {}
  -X --exclude-from =input : the names to leave out are in {}
  --exclude = : leaves out {}
  --strip-components = : the first {0} folders of each name are left off
  --transform --xform =expression : names are changed by {}
  --owner = : of the owner {}
  --group = : of the group {}
  --mtime = : with the time {}
  --sort = : sorted by {}
  --format = : in the format {}
  --wildcards : names may be patterns
  @ input* : {tar_members}
zip
  -r --recurse-paths : folders with all they hold
  -j --junk-paths : without folders
  -q --quiet : -
  -v --verbose : -
  -u --update : only what is newer
  -m --move : the packed files are removed
  -d --delete : members are removed
  -y --symlinks : links stay links
  -P --password = : with a password
  -e --encrypt : with a password
  -9 : compressed as much as possible
  -0 : without compression
  -i --include =list : only {}
  -x --exclude =list : leaves out {}
  @ output
  @ input* : packs {}
unzip
  -d = : in the folder {}
  -o : files that are there are overwritten
  -n : files that are there are not overwritten
  -j : without folders
  -l : lists
  -t : tests
  -q : -
  -p : result goes to standard output
  -P = : with a password
  -x =list : leaves out {}
  @ input
  @ value* : only {}
gzip, gunzip, bzip2, bunzip2, xz, unxz, zstd, unzstd, pigz, lz4
  -d --decompress --uncompress : decompressed
  -c --stdout --to-stdout : result goes to standard output
  -k --keep : the file itself is kept
  -f --force : files that are there are overwritten
  -r --recursive : folders with all they hold
  -t --test : tests
  -l --list : lists
  -q --quiet : -
  -v --verbose : -
  -n --no-name : without name and time
  -T --threads = : with {0} threads
  -o =output
  -9 --best : compressed as much as possible
  -1 --fast : compressed as fast as possible
  --rm : the file itself is removed
  @ input*
cp
  -r -R --recursive : folders with all they hold
  -a --archive : folders with all they hold, with times and permissions
  -p --preserve =? : with times and permissions
  -n --no-clobber : files that are there are not overwritten
  -u --update =? : only what is newer
  -f --force : -
  -i --interactive : -
  -v --verbose : -
  -l --link : linked instead of copied
  -s --symbolic-link : linked by symbolic links
  -L --dereference : links are followed
  -d -P --no-dereference : links stay links
  -T --no-target-directory : the target is no folder to copy into
  -b : what would be overwritten is kept
  -t --target-directory =output : to {}
  --parents : with the folders of their names
  @ input* : from {}
  @ output? unless -t : to {}
mv
  -n --no-clobber : files that are there are not overwritten
  -u --update =? : only what is newer
  -f --force : -
  -i --interactive : -
  -v --verbose : -
  -b : what would be overwritten is kept
  -T --no-target-directory : the target is no folder to move into
  -t --target-directory =output : to {}
  @ input* : from {}
  @ output? unless -t : to {}
install
  -m --mode = : with the permissions {mode}
  -d --directory : makes folders
  -D : parents are made as well
  -o --owner = : of the owner {}
  -g --group = : of the group {}
  -t --target-directory =output : to {}
  @ input* : from {}
  @ output? unless -t -d : to {}
ln
  -s --symbolic : a symbolic link
  -f --force : what is there is replaced
  -n --no-dereference : a link to a folder is replaced itself
  -r --relative : with a relative path
  -v --verbose : -
  -T --no-target-directory : the link's name is no folder to link into
  -t --target-directory =output : to {}
  @ input* : from {}
  @ output? unless -t : to {}
mkdir
  -p --parents : parents are made as well
  -m --mode = : with the permissions {mode}
  -v --verbose : -
  @ output* : makes the folder {}
rmdir
  -p --parents : parents are removed as well
  --ignore-fail-on-non-empty : -
  @ output* : removes {}
rm, unlink, shred
  -r -R --recursive : folders with all they hold
  -f --force : -
  -i : -
  -I : -
  -d --dir : empty folders as well
  -v --verbose : -
  -u --remove : removed after overwriting
  -n --iterations = : overwritten {0} times
  @ output* : removes {}
chmod ; mode
  -R --recursive : folders with all they hold
  -v --verbose : -
  -c --changes : -
  -f --silent --quiet : -
  --reference =input : with the permissions of {}
  @ value unless --reference : with the permissions {mode}
  @ output* : applies to {}
chown
  -R --recursive : folders with all they hold
  -h --no-dereference : links themselves
  -v --verbose : -
  --reference =input : with the owner of {}
  @ value unless --reference : owner and group {}
  @ output* : applies to {}
chgrp
  -R --recursive : folders with all they hold
  @ value : group {}
  @ output* : applies to {}
umask
  -S : -
  @ value : new files do not get the permissions {}
touch
  -d --date = : with the time {}
  -t = : with the time {}
  -r --reference =input : with the time of {}
  -a : only the time of reading
  -m : only the time of change
  -c --no-create : files that are not there are not made
  @ output* : makes or touches {}
truncate
  -s --size = : with the size {}
  -c --no-create : files that are not there are not made
  @ output* : changes {}
date
  -d --date = : the time {}
  -u --utc --universal : in UTC
  -r --reference =input : the time of change of {}
  -f --file =input : the times in {}
  -R --rfc-email : as in an e-mail
  -I --iso-8601 =? : in ISO 8601[, to {}]
  -s --set = : sets the time {}
  --rfc-3339 = : in RFC 3339, to {}
  @ expression : in the form {date_format}
rsync
  -a --archive : folders with all they hold, with times and permissions
  -r --recursive : folders with all they hold
  -v --verbose : -
  -h --human-readable : -
  -P : -
  -q --quiet : -
  -z --compress : -
  -n --dry-run : nothing is changed
  -u --update : only what is newer
  -c --checksum : compared by checksum
  -t --times : with times
  -p --perms : with permissions
  -l --links : links stay links
  -L --copy-links : links are followed
  -R --relative : with the folders of their names
  -e --rsh = : through {}
  -b --backup : what would be overwritten is kept
  --backup-dir =output : what would be overwritten is kept in {}
  --delete : what the source does not have is deleted
  --delete-after : what the source does not have is deleted afterwards
  --exclude = : leaves out {}
  --include = : with {}
  --exclude-from =input : the names to leave out are in {}
  --files-from =input : the names are in {}
  --existing : only files that are there
  --ignore-existing : files that are there are not overwritten
  --remove-source-files : the sources are removed
  --max-size = : at most {} large
  --chmod = : with the permissions {mode}
  --progress : -
  --stats : -
  @ input* : from {}
  @ output? : to {}
scp
  -r : folders with all they hold
  -P = : on the port {0}
  -i =input : with the key {}
  -p : with times and permissions
  -q : -
  -C : -
  @ input* : from {}
  @ output? : to {}
dd ; equals
  if =input
  of =output
  bs = : blocks of {}
  count = : {0} blocks
  skip = : the first {0} blocks of the input are left out
  seek = : the first {0} blocks of the output are kept
  conv = : converted by {}
  status = : -
  @ value*
du
  -s --summarize : only the sum of each
  -h --human-readable : sizes such as 2K and 1G
  -a --all : files as well
  -b --bytes : in bytes
  -k : in kilobytes
  -m : in megabytes
  -c --total : with the sum of all
  -d --max-depth = : at most {0} levels deep
  --exclude = : leaves out {}
  @ input*
df
  -h --human-readable : sizes such as 2K and 1G
  -T --print-type : with the kind of file system
  @ input*
stat
  -c --format =expression : in the form {}
  --printf =expression : in the form {}
  -L --dereference : links are followed
  -t --terse : in one line
  @ input*
file
  -b --brief : without the names of the files
  -i --mime : as a MIME type
  @ input*
basename
  -s --suffix = : without the ending {}
  -a --multiple : of each
  @ value : of {}
  @ value : without the ending {}
dirname
  @ value* : of {}
realpath, readlink
  -f --canonicalize : links are followed
  -e --canonicalize-existing : it must be there
  -m --canonicalize-missing : it need not be there
  --relative-to = : relative to {}
  @ input*
mktemp
  -d --directory : a folder
  -p = : in the folder {}
  --tmpdir =? : in the folder for temporary files[ {}]
  @ value : named after {}
"""
