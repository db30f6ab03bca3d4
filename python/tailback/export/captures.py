"""The frames that runs captured, a pcapng file each, called by what tells the runs apart."""

from pathlib import Path

from tailback.errors import InputError
from tailback.export import files
from tailback.results import Results


def export_pcapng(results: Results, folder: str | Path) -> list[Path]:
    """Write each run's capture into `folder`; return them.

    Args:
        results: a run folder of a scenario with `record.pcap`.
        folder: made if it is not there; files of the same names are replaced.

    Raises:
        InputError: its runs captured nothing.
    """
    written = []
    for row in results.summary.iter_rows(named=True):
        capture = results.path / "captures" / f"{row['run']:04}.pcapng"
        if capture.is_file():
            name = f"{results.name}.{files.label(results, row)}.pcapng"
            written.append(files.write(Path(folder) / name, capture.read_bytes()))
    if not written:
        raise InputError(
            f"{results.path}: its runs captured no frames; "
            "`tailback run --pcap` captures them, and record.pcap of a scenario says which"
        )
    return written
