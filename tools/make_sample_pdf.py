"""Write the PDF of the sample folder: three pages of plain text, with nothing but the standard library."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

TARGET: Final = (
    Path(__file__).resolve().parent.parent
    / "src/ragstone/surfaces/cli/sample/docs/saw-manual.pdf"
)
TITLE: Final = "KX-3 bridge saw"
PAGES: Final = (
    (
        "1  Before you start",
        "The KX-3 cuts granite, marble and slate up to 60 mm thick. It stands on a concrete floor",
        "and needs three metres of free space on each side. Two people lift the slab onto the table;",
        "one person alone never does. Wear ear protection, goggles and closed shoes, and tie long",
        "hair back. Gloves are for lifting only: take them off before the saw starts, because the",
        "blade can catch them. Keep the way to the emergency stop free at all times.",
        "Fill the tank with clean water up to the upper mark. Check that both hoses are tight and",
        "that the spray covers both sides of the blade. Never cut dry, not even a short piece.",
        "Close the door and lock it. The saw does not start while the door is open, and the panel",
        "shows the code QRY-118. Clamp the slab with both clamps and pull at it: it must not move.",
        "Set the depth to the thickness of the slab plus three millimetres. Start with a slow feed",
        "and listen: a clear, even tone means that the blade is sharp and the speed is right.",
    ),
    (
        "2  Cooling",
        "Water carries the heat of the blade away: 35 litres a minute. The pump sits behind the tank",
        "and runs as long as the blade turns. If the flow falls below 20 litres a minute, the saw",
        "stops by itself and the panel shows the code QRY-101. Empty the filter, rinse it, put it",
        "back, and start the pump by hand. Do not use a hammer on the pump.",
        "In summer the water in the tank warms up during the day. Above 30 degrees it no longer cools",
        "well: let half of it out and fill the tank again. In winter add antifreeze when the hall is",
        "below five degrees, and empty the hoses before the weekend.",
        "A dark edge on the stone, a smell of burning or sparks mean that the blade runs too hot.",
        "Stop at once, lift the blade out of the cut, and let it cool down for ten minutes before you",
        "touch it. Water on a glowing blade makes it crack. Mud from the tank goes to the settling",
        "basin, never into the drain.",
    ),
    (
        "3  Changing the blade",
        "A blade lasts for about 400 square metres of marble or 150 of granite. Change it when the",
        "cut becomes slow or the segments are shorter than four millimetres.",
        "Switch the main power off, hang your lock on the switch, and wait until the blade stands",
        "still. Take the guard off: it has four screws. Hold the shaft with the wrench of 32 mm.",
        "Loosen the flange nut clockwise: it has a left-hand thread. Lift the blade out with two",
        "people and put it into its wooden box.",
        "Clean the flange with a dry cloth. The arrow on the new blade points in the direction of",
        "the turn. Tighten the nut with 48 Nm, not more, then turn the blade once by hand: it must not",
        "touch anything. Put the guard back with all four screws.",
        "Let the new blade run for two minutes without a slab. If it sings or wobbles, take it off",
        "and check the flange again. Note the date and the number of the blade in the saw's book.",
    ),
)


def page_content(heading: str, lines: tuple[str, ...]) -> bytes:
    """Return the drawing commands of a page."""
    commands = ["BT", "/F1 18 Tf", "72 760 Td", f"({TITLE}) Tj", "/F1 14 Tf", "0 -36 Td"]
    commands += [f"({heading}) Tj", "/F1 11 Tf", "0 -10 Td"]
    for line in lines:
        commands += ["0 -18 Td", f"({line}) Tj"]
    return "\n".join([*commands, "ET"]).encode("ascii")


def make_pdf() -> bytes:
    """Return the whole file: a catalogue, a font, and two objects for each page."""
    numbers = [4 + 2 * position for position in range(len(PAGES))]
    kids = " ".join(f"{number} 0 R" for number in numbers)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(PAGES)} >>".encode("ascii"),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, (heading, *lines) in zip(numbers, PAGES, strict=True):
        content = page_content(heading, tuple(lines))
        resources = "<< /Font << /F1 3 0 R >> >>"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources {resources} "
            f"/Contents {number + 1} 0 R >>".encode("ascii")
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    return assemble(objects)


def assemble(objects: list[bytes]) -> bytes:
    """Return the objects as a file, with the table of their positions."""
    data = b"%PDF-1.4\n"
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    trailer = b"<< /Size %d /Root 1 0 R >>" % (len(objects) + 1)
    return data + b"trailer\n%s\nstartxref\n%d\n%%%%EOF\n" % (trailer, start)


def main() -> int:
    """Write the file."""
    TARGET.write_bytes(make_pdf())
    print(f"wrote {TARGET.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
