"""Stands for the process that recognises text: the answer depends on the number of the page."""

from __future__ import annotations

import os
import time

from ragstone.read.messages import Message, decode
from ragstone.read.ocr_reader import PageReply, PageRequest
from ragstone.read.worker_loop import WorkerLoop


def handle(header: object, data: bytes) -> Message:
    page = decode(PageRequest, header).page
    if page == 4:
        os._exit(1)
    if page == 5:
        time.sleep(20)
    if page == 6:
        return PageReply("damaged", "the page cannot be drawn"), b""
    if page == 7 or b"Blank" in data:
        return PageReply(), b" "
    return PageReply(), f"Recognised page {page}.".encode()


def main() -> None:
    WorkerLoop().run(handle)
