"""Documents as a graph: which document a link leads to, what leads to it, and ways between documents."""
