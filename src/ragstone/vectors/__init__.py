"""Which vectors are near: row codecs, the exact index, the turbo index. Loaded by name, on first use."""
