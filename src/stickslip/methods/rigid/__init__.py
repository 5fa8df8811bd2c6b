"""Time stepping: rigid and relaxed contacts, whose impulses over a step solve a complementarity or cone problem."""
