"""What visitors see."""
