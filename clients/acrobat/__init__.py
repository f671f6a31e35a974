"""Reading PDF documents: a process of its own, which has given up files and network before it sees a byte."""
