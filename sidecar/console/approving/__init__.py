"""What the pages of approvals work out: groups, repeats, rows to check, changes, how far it is."""
