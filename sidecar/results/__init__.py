"""What a model is told about its calls."""
