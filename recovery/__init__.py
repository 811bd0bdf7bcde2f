"""What a crash left: claim, observe, decide, act."""
