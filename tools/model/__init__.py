"""The pipeline that trains an embedding model of our own. It is not part of the wheel; see README.md."""
