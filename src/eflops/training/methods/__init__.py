"""One module a method; its class is called Method."""
