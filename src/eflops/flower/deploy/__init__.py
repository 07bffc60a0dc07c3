"""What Flower does not do for a real federation: deal a draw out, make keys and certificates, write the commands."""
