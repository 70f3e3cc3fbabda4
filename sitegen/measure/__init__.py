"""The parent: which cases, on which machine, in which fresh process."""
