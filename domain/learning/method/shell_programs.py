"""Table of the shell's builtins, of shells themselves and of wrappers such as ``timeout``: cd, export, test, read.

The notation is that of ``program_forms``; the meanings follow the manual of bash 5.
"""

SHELL_PROGRAMS = r"""
cd, pushd
  @ input : goes to the folder {}
export, declare, typeset, local, readonly
  -x : for programs as well
  -a : an array
  -A : an array with names
  -i : a number
  -r : not to be changed
  -f : a function
  -g : -
  -n : -
  -p : -
  @ value* : sets {}
unset
  -f : a function
  -v : -
  @ value* : forgets {}
alias
  @ value* : sets {}
set
  -e : stops at the first failure
  -u : unset variables are failures
  -x : -
  -o = : with the setting {}
  @ value*
shopt
  -s : switches on
  -u : switches off
  -q : -
  @ value* : the setting {}
read
  -r : backslashes are kept
  -a = : into the array {}
  -d = : up to {}
  -n -N = : {0} characters
  -p = : asks {}
  -s : without showing it
  -t = : at most {0} seconds
  -u = : from descriptor {0}
  @ value* : into {}
mapfile, readarray
  -t : without the end of each line
  -d = : pieces are separated by {}
  -n = : at most {0} lines
  -s = : without the first {0} lines
  @ value : into {}
test, [, [[ ; test
source, .
  @ input : runs the script {}
  @ value*
bash, sh, dash, zsh, ksh ; stop
  -c =rest : runs the shell script {}
  -e : stops at the first failure
  -u : unset variables are failures
  -x : -
  -l : -
  -i : -
  -o = : with the setting {}
  @ input : runs the script {}
eval
  @ expression* : runs {joined}
sleep
  @ value* : waits {}
exit, return
  @ value : with the status {}
kill
  -s = : with the signal {}
  -9 : with the signal KILL
  @ value* : of {}
trap
  @ expression : runs {}
  @ value* : at {}
timeout
  -k --kill-after = : killed after {} more
  -s --signal = : with the signal {}
  --preserve-status : with the status of the program
  @ value : at most {} long
nice, ionice
  -n --adjustment -# = : with the priority {0}
  -c --class = : with the class {0}
  @ value*
sudo, doas
  -u --user = : as the user {}
  -g --group = : as the group {}
  -E : -
  -n : -
  @ value* : sets {}
env
  -i --ignore-environment : without the variables of the shell
  -u --unset = : without the variable {}
  -C --chdir = : in the folder {}
  @ value* : sets {}
time
  -p : -
  -f = : in the form {}
  -o =output
  @ value*
"""
