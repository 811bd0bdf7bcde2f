"""Operations: found, read and told; and the runs that asked for them."""
