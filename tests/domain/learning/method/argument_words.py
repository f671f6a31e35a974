"""Arguments of commands, made up, for statements about any of them."""

import shlex

from hypothesis import strategies as st

from domain.learning.commands.command_line import name_set

_PIECES = sorted(
    name_set(
        r"""-n -k2 -t, -rf --exclude=x -f -e s/a/b/ 5 -5 +2 -- - a.csv "$f" {} -exec ; \; ! ( -m -c -I -I{} x=1 -1
        --arg a*b -print0 $(date) <(sort) $((1+2)) '' -C dir > out < in -name -perm 640 | && if=x"""
    )
)
_WORDS = st.one_of(
    st.sampled_from(_PIECES),
    st.text(alphabet="abcXYZ019-=.,:/'\"$*{}()\\\t é", max_size=8).map(shlex.quote),
)
ARGUMENTS = st.lists(_WORDS, max_size=8).map(" ".join)
"""What may stand behind the name of a program: options, operands, quoting, redirections."""
