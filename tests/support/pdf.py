"""Makes small PDF files, with the help of a library or byte by byte."""

import io
from collections.abc import Sequence

from pypdf import PdfReader, PdfWriter

_HEAD = b"%PDF-1.4\n"


def pdf_of(pages: Sequence[Sequence[str]], password: str | None = None) -> bytes:
    """Returns a PDF with these lines (Latin-1) on each page. `password`: encrypted with it, which may be empty."""
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"", b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
    kids = []
    for lines in pages:
        escaped = (line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)") for line in lines)
        content = "BT /F1 12 Tf 14 TL 72 720 Td " + " ".join(f"({line}) Tj T*" for line in escaped) + " ET"
        stream = content.encode("latin-1")
        objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream))
        page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>"
        objects.append(page % len(objects))
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<</Type/Pages/Kids[%s]/Count %d>>" % (b" ".join(kids), len(kids))
    out, places = bytearray(_HEAD), []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    size, table_at = len(objects) + 1, len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (size, table_at)
    return bytes(out) if password is None else _locked(bytes(out), password)


def _locked(content: bytes, password: str) -> bytes:
    writer, out = PdfWriter(PdfReader(io.BytesIO(content))), io.BytesIO()
    writer.encrypt(user_password=password, owner_password="owner", algorithm="RC4-128")
    writer.write(out)
    return out.getvalue()
