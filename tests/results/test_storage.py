"""Files in full or not at all, and what is no file left as it is."""

import os
import stat
import threading
from pathlib import Path

from tailback.results.storage import write_bytes


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=write_bytes, args=(pipe, b"report"), daemon=True)
    writer.start()
    # Without anyone who writes, opening would wait for ever.
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    writer.join(timeout=10)
    assert os.read(reader, 100) == b"report"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    link, file = tmp_path / "latest.html", tmp_path / "report.html"
    file.write_bytes(b"old")
    link.symlink_to(file.name)
    write_bytes(link, b"new")
    assert link.is_symlink()
    assert file.read_bytes() == b"new"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["latest.html", "report.html"]
