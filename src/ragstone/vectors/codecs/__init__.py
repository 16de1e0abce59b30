"""Codecs: how a vector is encoded as the bytes of a row in the store."""

from ragstone.vectors.codecs.rows import CODECS as CODECS
from ragstone.vectors.codecs.rows import codec as codec
from ragstone.vectors.codecs.rows import read_rows as read_rows
