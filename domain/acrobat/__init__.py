"""Rules for working on PDF documents: which pages, and what should be blacked out."""
