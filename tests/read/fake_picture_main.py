"""Stands for the process that draws pages: the answer depends on the number of the page."""

from __future__ import annotations

import os
import time

from ragstone.read.messages import Message, decode
from ragstone.read.picture_reader import PictureReply, PictureRequest
from ragstone.read.worker_loop import WorkerLoop


def handle(header: object, data: bytes) -> Message:
    page = decode(PictureRequest, header).page
    if page == 2:
        os._exit(1)
    if page == 3:
        time.sleep(20)
    if page == 4:
        return PictureReply(), b"<svg onload=alert(1)>"
    return PictureReply(), b"\x89PNG\r\n\x1a\n" + str(os.getpid()).encode()


def main() -> None:
    WorkerLoop().run(handle)
