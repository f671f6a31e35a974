"""Speaking to tool servers with the official client, and to their authorization servers."""
