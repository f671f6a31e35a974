"""Table of git and its subcommands, in the notation of ``program_forms``; the meanings follow git 2.4x."""

GIT_PROGRAMS = r"""
git ; sub
  -C = : in the folder {}
  -c = : with the setting {}
  --git-dir =input : with the repository {}
  --work-tree =input : with the working folder {}
  --no-pager : -
  -P : -
git init
  -b --initial-branch = : the first branch is {}
  -q --quiet : -
  --bare : without a working folder
  @ output : in the folder {}
git add
  -A --all : all changes are added
  -u --update : all changes of known files are added
  -f --force : ignored files as well
  -p --patch : chosen by hand
  -v --verbose : -
  @ input* : adds {} to the next commit
git commit
  -m --message =expression : with the message {}
  -a --all : all changed files are included
  -F --file =input : the message is in {}
  -q --quiet : -
  -s --signoff : with the line "Signed-off-by"
  -v --verbose : -
  --amend : the last commit is replaced
  --no-edit : the message stays
  --allow-empty : even without a change
  --author = : by {}
  --date = : with the time {}
  @ input* : only {}
git tag
  -a --annotate : an annotated tag
  -m --message =expression : with the message {}
  -d --delete : the tag is deleted
  -f --force : a tag that is there is replaced
  -l --list : lists
  -s --sign : signed
  -n =? : with lines of the message
  --sort = : sorted by {}
  @ value : the tag {}
  @ value : at {}
git merge
  --no-ff : always with a merge commit
  --ff-only : only without a merge commit
  --squash : as one change without a commit
  --no-commit : without a commit
  --no-edit : the message stays
  --abort : the merge is given up
  --continue : the merge is completed
  -m --message =expression : with the message {}
  -X --strategy-option = : conflicts are settled by {}
  -s --strategy = : with the strategy {}
  @ value* : merges {}
git branch
  -d --delete : the branch is deleted
  -D : the branch is deleted even if it is not merged
  -m --move : the branch is renamed
  -M : the branch is renamed, replacing what is there
  -a --all : -
  -r --remotes : -
  -v : -
  --list : lists
  --merged =? : only merged ones
  -u --set-upstream-to = : follows {}
  @ value : the branch {}
  @ value : at or to {}
git checkout
  -b = : a new branch {}
  -B = : a new or reset branch {}
  -f --force : changes are thrown away
  -q --quiet : -
  --ours : our side of a conflict
  --theirs : their side of a conflict
  @ value* : checks out {}
git switch
  -c --create = : a new branch {}
  -C --force-create = : a new or reset branch {}
  -d --detach : without a branch
  -q --quiet : -
  @ value : goes to {}
git restore
  -s --source = : as in {}
  -S --staged : in the next commit
  -W --worktree : in the working folder
  @ output* : restores {}
git reset
  --hard : changes are thrown away
  --soft : changes stay in the next commit
  --mixed : changes stay in the working folder
  -q --quiet : -
  @ value* : to {}
git log
  --oneline : one line for each commit
  -n --max-count -# = : {tail_commits}
  --since --after = : since {}
  --until --before = : until {}
  --author = : by {}
  --grep = : with a message that matches {}
  --format --pretty =expression : in the form {}
  --date = : times in the form {}
  -p --patch : with the changes
  --stat : with the numbers of changed lines
  --name-only : with the names of changed files
  --all : of all branches
  --graph : -
  --decorate =? : -
  --reverse : oldest first
  --merges : only merge commits
  --no-merges : without merge commits
  -S = : that changed the number of {}
  @ value* : of {}
git show
  --stat : with the numbers of changed lines
  --name-only : with the names of changed files
  --format --pretty =expression : in the form {}
  -s --no-patch : without the changes
  @ value* : of {}
git diff
  --stat : with the numbers of changed lines
  --name-only : only the names of changed files
  --name-status : only the names of changed files and how they changed
  --cached --staged : what the next commit holds
  -w --ignore-all-space : blanks are not compared
  -U --unified = : with {0} lines around each
  --check : checks blanks and conflict marks
  @ value* : of {}
git status
  -s --short : -
  -b --branch : -
  --porcelain =? : -
  @ input*
git config
  --global : for all repositories of the user
  --local : -
  --add : as one more value
  --unset : the setting is removed
  --get : -
  -l --list : lists
  -f --file =input : in the file {}
  @ value* : the setting {}
git clone
  -b --branch = : with the branch {}
  -q --quiet : -
  --depth = : only the last {0} commits
  --bare : without a working folder
  --recursive --recurse-submodules : with submodules
  --mirror : with all refs
  @ input : from {}
  @ output : to {}
git push, git pull, git fetch
  -u --set-upstream : the branch follows it from now on
  -f --force : what is there is replaced
  -q --quiet : -
  --tags : with tags
  --all : with all branches
  --prune : what is gone there is deleted
  --rebase =? : own commits come after theirs
  --ff-only : only without a merge commit
  -d --delete : what is named is deleted there
  @ value : with {}
  @ value* : of {}
git remote
  @ value* : given {}
git rm
  -r : folders with all they hold
  -f --force : -
  -q --quiet : -
  --cached : the files themselves stay
  @ output* : removes {} from version control
git mv
  -f --force : -
  @ input* : from {}
  @ output? : to {}
git archive
  --format = : in the form {}
  --prefix = : names begin with {}
  -o --output =output
  -v --verbose : -
  @ value : of {}
  @ value* : only {}
git rebase
  -i --interactive : chosen by hand
  --onto = : onto {}
  --continue : the rebase is completed
  --abort : the rebase is given up
  @ value* : on {}
git cherry-pick, git revert
  -n --no-commit : without a commit
  -x : with the name of the commit in the message
  --no-edit : the message stays
  -m --mainline = : against parent {0}
  --continue : it is completed
  --abort : it is given up
  @ value* : of {}
git stash
  -m --message = : with the message {}
  -u --include-untracked : new files as well
  @ value* : given {}
git apply
  -p = : the first {0} folders of each name are left off
  -R --reverse : the change is taken back
  --check : only checks
  --index : in the next commit as well
  @ input*
git rev-parse, git describe, git shortlog, git blame, git grep, git ls-files, git worktree
  -s --summary : -
  -n --numbered : by number
  -e --email : with e-mail addresses
  --short =? : in short form
  --tags : with tags
  --always : -
  --abbrev-ref : by name
  --show-toplevel : the top folder
  @ value* : of {}
"""
