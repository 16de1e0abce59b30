"""The store in a PostgreSQL database that several machines share."""
