"""A real federation on Flower: server and clients as processes of their own."""
