"""Documents of people are read into pieces with their page, or refused with a reason.

Covers `lamina.importers.documents.html_scanner`, `lamina.importers.documents.html_text`,
`lamina.importers.documents.office_files` and `lamina.importers.documents.text_decoding`.
"""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from datetime import date
from pathlib import Path

import pytest

from cpu_time import LONG, cpu_seconds
from lamina.errors import InvalidInput, NotFound
from lamina.importers.documents import UnreadableDocument, read_document
from lamina.importers.documents import parsed_document as limits
from lamina.importers.documents.pdf_text import OperationLimit, join_broken_lines
from lamina.importers.lenient_frontmatter import read_frontmatter

pypdf = pytest.importorskip("pypdf")
docx = pytest.importorskip("docx")
pptx = pytest.importorskip("pptx")
openpyxl = pytest.importorskip("openpyxl")


def pdf(*pages: list[str]) -> bytes:
    """A PDF as the format describes it: objects, their offsets, a trailer."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for n, lines in enumerate(pages):
        drawn = "BT /F1 12 Tf 14 TL 50 750 Td " + " ".join(f"({line}) Tj T*" for line in lines) + " ET"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {5 + 2 * n} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
    out, offsets = b"%PDF-1.4\n", []
    for n, item in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{n} 0 obj\n{item}\nendobj\n".encode()
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>"
    return out + f"{end}\nstartxref\n{len(out)}\n%%EOF\n".encode()


def write_file(folder: Path, name: str, data: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def refusal_of(path: Path) -> str:
    with pytest.raises(UnreadableDocument) as caught:
        read_document(path)
    assert isinstance(caught.value, InvalidInput)
    assert path.name in str(caught.value)
    return caught.value.reason


# PDF


def test_a_pdf_is_read_page_by_page(tmp_path: Path) -> None:
    read = read_document(write_file(tmp_path, "tea.pdf", pdf(["Ann likes tea."], ["Bob does not."])))
    assert (read.form, read.title) == ("pdf", "tea")
    assert [(piece.text, piece.page) for piece in read.pieces] == [
        ("Ann likes tea.", "page 1"),
        ("Bob does not.", "page 2"),
    ]


def test_lines_broken_only_by_the_page_width_are_joined() -> None:
    lines = [
        "The committee met in spring and decided to intro-",
        "duce a new tea in the well-known canteen, which was",
        "welcomed by all.",
        "A second paragraph begins here and is as long as this",
        "and ends.",
        "- an item",
        "- another",
    ]
    assert join_broken_lines("\n".join(lines)).strip().split("\n\n") == [
        "The committee met in spring and decided to introduce a new tea in the well-known canteen, which was "
        "welcomed by all.",
        "A second paragraph begins here and is as long as this and ends.",
        "- an item\n- another",
    ]


def test_a_pdf_with_a_password_is_refused(tmp_path: Path) -> None:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf(["secret"])))
    writer.encrypt("hunter2", algorithm="RC4-128")
    writer.write(tmp_path / "locked.pdf")
    assert "password" in refusal_of(tmp_path / "locked.pdf")


def test_a_pdf_with_an_empty_password_is_read(tmp_path: Path) -> None:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf(["Open to all."])))
    writer.encrypt("", owner_password="owner", algorithm="RC4-128")
    writer.write(tmp_path / "open.pdf")
    assert read_document(tmp_path / "open.pdf").pieces[0].text == "Open to all."


def test_a_pdf_without_text_is_refused_with_what_to_do(tmp_path: Path) -> None:
    writer = pypdf.PdfWriter()
    writer.add_blank_page(100, 100)
    writer.write(tmp_path / "scan.pdf")
    assert "OCR" in refusal_of(tmp_path / "scan.pdf")


@pytest.mark.parametrize("cut", [0, 9, 120, 400])
def test_a_damaged_pdf_is_refused(tmp_path: Path, cut: int) -> None:
    assert "damaged" in refusal_of(write_file(tmp_path, "bad.pdf", pdf(["Ann likes tea."])[:cut] + b"\xff\xfe\x00"))


# Office


def test_a_text_document_keeps_headings_lists_and_tables(tmp_path: Path) -> None:
    document = docx.Document()
    document.core_properties.title = "About tea"
    document.add_heading("Tea", 1)
    document.add_paragraph("Ann likes it.")
    document.add_paragraph("Green", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for n, words in enumerate(["Name", "Cups", "Ann", "3"]):
        table.cell(n // 2, n % 2).text = words
    document.add_heading("Milk", 2)
    document.add_paragraph("No.")
    document.save(str(tmp_path / "tea.docx"))
    read = read_document(tmp_path / "tea.docx")
    assert (read.title, read.form) == ("About tea", "docx")
    assert [(piece.text, piece.context) for piece in read.pieces] == [
        ("# Tea\n\nAnn likes it.", ""),
        ("- Green", "Tea"),
        ("Name | Cups\nAnn | 3", "Tea"),
        ("## Milk\n\nNo.", "Tea"),
    ]


def test_a_presentation_is_read_slide_by_slide_with_notes(tmp_path: Path) -> None:
    deck = pptx.Presentation()
    for title, words in (("Tea", "Ann likes it."), ("Milk", "Bob does not.")):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = words
    deck.slides[1].notes_slide.notes_text_frame.text = "Say it slowly."
    deck.save(str(tmp_path / "tea.pptx"))
    assert [(piece.page, piece.text) for piece in read_document(tmp_path / "tea.pptx").pieces] == [
        ("slide 1", "# Tea\n\nAnn likes it."),
        ("slide 2", "# Milk\n\nBob does not."),
        ("slide 2", "Say it slowly."),
    ]


def test_a_spreadsheet_is_read_sheet_by_sheet(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "Cups"
    book.active.append(["Name", "Cups", "Since"])
    book.active.append(["Ann", 3.0, date(2024, 5, 1)])
    book.active.append([])
    book.active.append(["Bob", 1.5, None])
    other = book.create_sheet("Many")
    for n in range(200):
        other.append([f"name {n}", n])
    book.save(tmp_path / "tea.xlsx")
    first, *rest = read_document(tmp_path / "tea.xlsx").pieces
    assert (first.page, first.text) == ("sheet Cups", "Name | Cups | Since\nAnn | 3 | 2024-05-01\nBob | 1.5")
    assert len(rest) > 1
    assert [line for piece in rest for line in piece.text.split("\n")] == [f"name {n} | {n}" for n in range(200)]
    assert [piece.context for piece in rest] == ["", *["name 0 | 0"] * (len(rest) - 1)]


@pytest.mark.parametrize("name", ["a.docx", "a.pptx", "a.xlsx"])
def test_a_damaged_office_file_is_refused(tmp_path: Path, name: str) -> None:
    assert "damaged" in refusal_of(write_file(tmp_path, name, b"PK\x03\x04 nothing"))
    with zipfile.ZipFile(tmp_path / name, "w") as archive:
        archive.writestr("hello.txt", "hello")
    assert "damaged" in refusal_of(tmp_path / name)


@pytest.mark.parametrize("name", ["a.docx", "a.pptx", "a.xlsx"])
def test_a_zip_bomb_is_not_unpacked(tmp_path: Path, name: str) -> None:
    with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b" " * (30 << 20))
    assert "unpack" in refusal_of(tmp_path / name)


def test_a_part_that_is_larger_than_it_says_is_not_unpacked(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("Words.")
    document.save(str(tmp_path / "plain.docx"))
    with zipfile.ZipFile(tmp_path / "plain.docx") as old, zipfile.ZipFile(tmp_path / "a.docx", "w") as liar:
        for part in old.namelist():
            liar.writestr(part, old.read(part))
        liar.writestr("word/huge.xml", b" " * (1 << 20), zipfile.ZIP_DEFLATED)
        liar.getinfo("word/huge.xml").file_size = 10
    assert "larger than it says" in refusal_of(tmp_path / "a.docx") or "damaged" in refusal_of(tmp_path / "a.docx")
    with zipfile.ZipFile(tmp_path / "a.pptx", "w", zipfile.ZIP_LZMA) as odd:
        odd.writestr("ppt/presentation.xml", b"words")
    assert "packed in a way" in refusal_of(tmp_path / "a.pptx")


def test_a_table_cell_that_claims_to_span_a_billion_columns_is_one_cell(tmp_path: Path) -> None:
    document = docx.Document()
    table = document.add_table(rows=3, cols=3)
    for at, cell in enumerate(cell for row in table.rows for cell in row.cells):
        cell.text = f"c{at}"
    table.cell(0, 0).merge(table.cell(0, 1)).text = "wide"
    table.cell(1, 2).merge(table.cell(2, 2)).text = "tall"
    document.save(str(tmp_path / "merged.docx"))
    assert [piece.text for piece in read_document(tmp_path / "merged.docx").pieces] == [
        "wide | c2\nc3 | c4 | tall\nc6 | c7 | tall"
    ]
    table.cell(0, 0)._tc.tcPr.gridSpan.val = 1_000_000_000
    document.save(str(tmp_path / "a.docx"))
    assert cpu_seconds(lambda: read_document(tmp_path / "a.docx")) < LONG


def test_the_drawing_operations_of_a_pdf_are_limited(tmp_path: Path) -> None:
    path = write_file(tmp_path, "a.pdf", pdf(["one", "two"], ["three"]))
    pages = pypdf.PdfReader(path).pages
    counted = OperationLimit(path, 1000)
    assert "two" in pages[0].extract_text(visitor_operand_before=counted.count)
    limit = OperationLimit(path, 1001 - counted.remaining)
    with pytest.raises(UnreadableDocument, match="operations"):
        [page.extract_text(visitor_operand_before=limit.count) for page in pages]


def test_cells_that_share_one_long_text_do_not_fill_the_memory(tmp_path: Path) -> None:
    openpyxl.Workbook().save(tmp_path / "plain.xlsx")
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    shared_type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
    row = "<row>" + '<c t="s"><v>0</v></c>' * 10 + "</row>"
    parts = {
        "xl/sharedStrings.xml": f'<sst xmlns="{main}"><si><t>{"word " * 60_000}</t></si></sst>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{row * 1000}</sheetData></worksheet>',
    }
    with zipfile.ZipFile(tmp_path / "plain.xlsx") as plain, zipfile.ZipFile(tmp_path / "a.xlsx", "w") as shared:
        types = plain.read("[Content_Types].xml").decode()
        entry = f'<Override PartName="/xl/sharedStrings.xml" ContentType="{shared_type}"/></Types>'
        parts |= {"[Content_Types].xml": types.replace("</Types>", entry)}
        for part in {*plain.namelist(), *parts}:
            shared.writestr(part, parts[part] if part in parts else plain.read(part))
    assert "characters" in refusal_of(tmp_path / "a.xlsx")


def test_a_long_line_of_spaces_in_odd_frontmatter_takes_linear_time() -> None:
    text = "---\n\tbad: [yaml\nkey: a" + " " * 60_000 + "b\n---\n\nWords."
    assert cpu_seconds(lambda: read_frontmatter(text)) < 1
    assert read_frontmatter("---\n\tbad\nkey:  'a b' \n---\n").text("key") == "a b"


def test_recursive_entities_are_not_expanded(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("WORDS")
    document.save(str(tmp_path / "plain.docx"))
    entities = '<!ENTITY a "lol">' + "".join(
        f'<!ENTITY {new} "{f"&{old};" * 20}">' for old, new in zip("abcdefg", "bcdefgh", strict=True)
    )
    with zipfile.ZipFile(tmp_path / "plain.docx") as old, zipfile.ZipFile(tmp_path / "laughs.docx", "w") as laughs:
        for part in old.namelist():
            data = old.read(part)
            if part == "word/document.xml":
                data = data.replace(b"?>", b"?><!DOCTYPE x [" + entities.encode() + b"]>", 1).replace(b"WORDS", b"&h;")
            laughs.writestr(part, data)
    try:
        read = read_document(tmp_path / "laughs.docx")
    except UnreadableDocument:
        return
    assert sum(len(piece.text) for piece in read.pieces) < 1_000


def test_an_encrypted_and_an_old_office_file_are_distinguished(tmp_path: Path) -> None:
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100)
    assert "password" in refusal_of(write_file(tmp_path, "a.docx", ole))
    assert "old Office format" in refusal_of(write_file(tmp_path, "a.doc", ole))


# Web pages

PAGE = """<!doctype html><html><head><title>About  tea</title><style>p {color: red}</style></head>
<body><nav><a href=/>Home</a></nav><h1>Tea</h1><p>Ann <b>likes</b>
green&nbsp;tea &amp; cake.<p>Bob<br>does not.</p><ul><li>one<li>two</ul>
<table><tr><th>Name<th>Cups</tr><tr><td>Ann</td><td>3</td></tr></table>
<pre>x = 1

y = 2</pre><script>alert("hi")</script><div hidden>unseen</div><h2>Milk</h2><p>No.</body></html>"""


def test_an_html_page_is_read_as_rendered(tmp_path: Path) -> None:
    read = read_document(write_file(tmp_path, "tea.html", PAGE))
    assert read.title == "About tea"
    assert [(piece.text, piece.context) for piece in read.pieces] == [
        ("# Tea\n\nAnn likes green tea & cake.", ""),
        ("Bob\ndoes not.", "Tea"),
        ("- one\n- two", "Tea"),
        ("Name | Cups\nAnn | 3", "Tea"),
        ("```\nx = 1\n\ny = 2\n```", "Tea"),
        ("## Milk\n\nNo.", "Tea"),
    ]


def test_an_unclosed_hidden_element_hides_nothing(tmp_path: Path) -> None:
    read = read_document(write_file(tmp_path, "a.html", "<p>One.</p><nav><p>Two.</p><p>Three."))
    assert "".join(piece.text for piece in read.pieces).split() == ["One.Two.Three."]


def test_an_html_page_declares_its_encoding(tmp_path: Path) -> None:
    page = '<meta charset="windows-1251"><p>Привет</p>'.encode("windows-1251")
    assert read_document(write_file(tmp_path, "a.html", page)).pieces[0].text == "Привет"


# Text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_text_is_decoded_in_its_encoding(tmp_path: Path, encoding: str) -> None:
    text = "Zoë’s café — “nice”.\r\n\r\nAnd more plain words, as people write them."
    read = read_document(write_file(tmp_path, "a.txt", text.encode(encoding)))
    assert [piece.text for piece in read.pieces] == text.split("\r\n\r\n")


@pytest.mark.parametrize(
    "data", [bytes(range(256)), b"\x89PNG\r\n\x1a\n" + bytes(64), "привет мир".encode("koi8-r"), b"\x81\x8d\x8f abc"]
)
def test_binary_content_is_refused(tmp_path: Path, data: bytes) -> None:
    assert refusal_of(write_file(tmp_path, "a.txt", data)) in {
        "it is not text",
        "its encoding is unknown; save it as UTF-8",
    }


def test_markdown_code_and_transcripts_are_recognised_by_name_and_content(tmp_path: Path) -> None:
    assert read_document(write_file(tmp_path, "a.md", "# Tea\n\nWords.")).title == "Tea"
    assert read_document(write_file(tmp_path, "a.py", "def f():\n    return 1\n")).form == "code"
    talk = read_document(write_file(tmp_path, "talk.txt", "Ann: hi\nBob: hello\nAnn: bye"))
    assert [piece.speaker for piece in talk.pieces] == ["Ann", "Bob", "Ann"]


def test_missing_empty_folder_and_oversized_inputs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        read_document(tmp_path / "none.txt")
    assert "empty" in refusal_of(write_file(tmp_path, "a.txt", " \n"))
    assert "folder" in refusal_of(tmp_path)
    huge = tmp_path / "huge.txt"
    with huge.open("wb") as file:
        file.truncate(limits.MAX_FILE_BYTES + 1)
    assert "larger than 100 MB" in refusal_of(huge)
    paragraph = "word " * 200 + "\n\n"
    text = paragraph * (limits.LONGEST // len(paragraph.strip()) + 1)
    assert "characters" in refusal_of(write_file(tmp_path, "b.txt", text))


def test_without_the_extra_the_error_names_it(tmp_path: Path) -> None:
    path = write_file(tmp_path, "a.pdf", pdf(["words"]))
    program = (
        "import sys; sys.modules['pypdf'] = None\n"
        "from pathlib import Path\n"
        "from lamina.importers.documents import UnreadableDocument, read_document\n"
        f"try: read_document(Path({str(path)!r}))\n"
        "except UnreadableDocument as error: print(error)\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install 'lamina[documents]'" in result.stdout, result.stderr


def test_no_library_is_loaded_before_a_file_needs_it() -> None:
    program = "import sys, lamina.importers.documents; print({'pypdf', 'docx', 'pptx', 'openpyxl'} & {*sys.modules})"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip() == "set()"
