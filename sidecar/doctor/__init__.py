"""What `outlive doctor` looks at."""
