"""The REST interface: routes, their checks, and the state of the server. It is imported only to serve."""
