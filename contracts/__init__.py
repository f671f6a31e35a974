"""Every schema of the product, each defined once. Imported by all, imports none of them, does no I/O."""
