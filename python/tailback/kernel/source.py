"""Where a kernel's source comes from: the distribution's package, a tarball, a tree.

The package linux-source is the same for all architectures and unpacks on any release, so it is
taken from Debian's unstable or backports suite, at the mirrors and through the proxies of this
machine's own apt configuration, into folders of our own: nothing is installed, and no privilege
is needed. apt checks the signatures.
"""

import subprocess
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tailback.errors import InputError, TailbackError
from tailback.kernel import recipe
from tailback.kernel.tree import Scan, scan

PINNED = "7.2"
"""The version that results are stated for."""
VERSIONS = (PINNED, "7.3")
"""Looked for in this order; what comes second is the fallback, known to work as well."""
OLDEST = (7, 2)
SUITES = ("sid", "trixie-backports")
KEYRINGS = (
    Path("/usr/share/keyrings/debian-archive-keyring.pgp"),
    Path("/usr/share/keyrings/debian-archive-keyring.gpg"),
)


@dataclass(frozen=True)
class Given:
    """A tree or a tarball that the user names."""

    path: Path

    @property
    def identity(self) -> str:
        """Where it is."""
        return str(self.path.resolve())

    def scan(self) -> Scan:
        """The files of a tree; of a tarball itself alone."""
        if self.path.is_dir():
            return scan(self.path)
        facts = self.path.stat()
        return {"": (facts.st_size, facts.st_mtime_ns)}

    def fetch(self, _work: Path) -> Path:
        """It is there already."""
        if not self.path.exists():
            raise InputError(f"{self.path}: there is no such source tree or tarball")
        if self.path.is_dir() and not (self.path / "arch" / "um" / "Kconfig").exists():
            raise InputError(f"{self.path}: no kernel source tree (arch/um/Kconfig is not there)")
        return self.path.resolve()


@dataclass(frozen=True)
class Package:
    """The newest Debian package of one of `versions`."""

    versions: Sequence[str] = VERSIONS

    @property
    def identity(self) -> str:
        """All packages of a version are alike: the version is told by the source itself."""
        return "debian"

    def scan(self) -> Scan:
        """Nothing that could change."""
        return {}

    def fetch(self, work: Path) -> Path:
        """Downloads the package into `work`; one that is there is taken as it is."""
        for version in self.versions:
            there = sorted(work.glob(f"linux-source-{version}_*.deb"))
            if there:
                return there[-1]
        options = _private_apt(work)
        _run(["apt-get", *options, "update"], work, "the package lists cannot be fetched")
        for version in self.versions:
            name = f"linux-source-{version}"
            known = subprocess.run(
                ["apt-cache", *options, "show", "--no-all-versions", name],
                capture_output=True,
                text=True,
                check=False,
            )
            if known.returncode == 0 and known.stdout.strip():
                _run(["apt-get", *options, "download", name], work, f"{name} cannot be fetched")
                return max(work.glob(f"{name}_*.deb"), key=lambda path: path.stat().st_mtime)
        raise InputError(
            f"no linux-source-{' or -'.join(self.versions)} in Debian's {' or '.join(SUITES)}; "
            "give a kernel's source: `--source TREE|TARBALL`"
        )


def unpack(source: Path, tree: Path) -> None:
    """Unpacks what is needed of a package, a tarball or a tree into the new folder `tree`."""
    tree.mkdir(parents=True)
    choose = _choose(tree)
    if source.is_dir():
        read = ["tar", "-C", str(source.parent), "--exclude-vcs", "-c", source.name]
        pipeline = [read, ["tar", "-x", *choose]]
    elif source.suffix == ".deb":
        inner = _tarball_in(source)
        pipeline = [
            ["dpkg-deb", "--fsys-tarfile", str(source)],
            ["tar", "-xO", inner],
            ["tar", "-xJ", *choose],
        ]
    else:
        pipeline = [["tar", "-xf", str(source), *choose]]
    _pipe(pipeline, source)


def bring(source: Path, tree: Path, written: Sequence[str]) -> None:
    """Copies what is needed of those files of a tree over its copy `tree`, as if written now."""
    names = tree.with_name("written")
    lines = (f"{source.name}/{path}\0" for path in written)
    names.write_bytes("".join(lines).encode(errors="surrogateescape"))
    read = ["tar", "-C", str(source.parent), "--exclude-vcs", "--no-recursion", "-c"]
    read += ["--null", "--verbatim-files-from", f"--files-from={names}"]
    _pipe([read, ["tar", "-x", "--touch", *_choose(tree)]], source)
    names.unlink()


def _choose(tree: Path) -> list[str]:
    return [f"--exclude-from={recipe.UNNEEDED}", "--strip-components=1", "-C", str(tree)]


def version(tree: Path) -> str:
    """The version that the tree's Makefile states; raises `InputError` where it is too old."""
    path = tree / "Makefile"
    parts: dict[str, str] = {}
    if path.exists():
        for line in path.read_text().splitlines()[:10]:
            name, equals, value = line.partition("=")
            if equals:
                parts[name.strip()] = value.strip()
    try:
        number = [int(parts[name]) for name in ("VERSION", "PATCHLEVEL", "SUBLEVEL")]
    except (KeyError, ValueError):
        raise InputError(f"{tree}: no kernel source tree: its Makefile states no version") from None
    text = ".".join(map(str, number)) + parts.get("EXTRAVERSION", "")
    if tuple(number[:2]) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise InputError(f"this is the source of Linux {text}; hosts need {oldest} or newer")
    return text


def _private_apt(work: Path) -> list[str]:
    """Options that make apt use folders and a list of sources of our own."""
    apt = work / "apt"
    for folder in ("lists/partial", "cache/archives/partial", "state"):
        (apt / folder).mkdir(parents=True, exist_ok=True)
    (apt / "status").touch()
    keyring = next((path for path in KEYRINGS if path.exists()), None)
    signed = f"[signed-by={keyring}] " if keyring else ""
    sources = apt / "sources.list"
    sources.write_text(
        "".join(f"deb {signed}{uri} {suite} main\n" for uri in _mirrors() for suite in SUITES)
    )
    settings = {
        "Dir::Etc::sourcelist": sources,
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State": apt / "state",
        "Dir::State::lists": apt / "lists",
        "Dir::State::status": apt / "status",
        "Dir::Cache": apt / "cache",
        "Debug::NoLocking": "1",
        "APT::Sandbox::User": "",
        "APT::Architecture": "amd64",
        "Acquire::Languages": "none",
        "Acquire::Retries": "3",
        "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
        "Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled": "false",
    }
    return [f"-o{name}={value}" for name, value in settings.items()]


def _mirrors() -> list[str]:
    """The Debian archives of this machine's apt configuration."""
    listing = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"],
        capture_output=True,
        text=True,
        check=False,
    )
    uris = dict.fromkeys(uri.strip() for uri in listing.stdout.splitlines())
    mirrors = [uri for uri in uris if uri.rstrip("/").endswith("/debian")]
    if not mirrors:
        raise InputError(
            "this machine's apt knows no Debian archive (an address that ends in /debian); "
            "give a kernel's source: `--source TREE|TARBALL`"
        )
    return mirrors[:1]


def _tarball_in(package: Path) -> str:
    listing = subprocess.Popen(
        ["dpkg-deb", "--fsys-tarfile", str(package)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        with listing, tarfile.open(fileobj=listing.stdout, mode="r|") as archive:
            for member in archive:
                if member.name.endswith(".tar.xz"):
                    listing.kill()
                    return member.name
    except tarfile.TarError as error:
        raise TailbackError(f"{package}: cannot be unpacked: it is no whole package") from error
    raise InputError(f"{package}: there is no source tarball in it")


def _pipe(commands: list[list[str]], source: Path) -> None:
    processes: list[subprocess.Popen[bytes]] = []
    for command in commands:
        feed = processes[-1].stdout if processes else subprocess.DEVNULL
        last = command is commands[-1]
        process = subprocess.Popen(
            command, stdin=feed, stdout=None if last else subprocess.PIPE, stderr=subprocess.PIPE
        )
        if processes and processes[-1].stdout is not None:
            processes[-1].stdout.close()
        processes.append(process)
    said = [process.communicate()[1] for process in reversed(processes)]
    failed = [process.args for process in processes if process.returncode]
    if failed:
        message = b"\n".join(said).decode(errors="replace").strip()
        raise TailbackError(f"{source}: cannot be unpacked: {message or failed}")


def _run(command: list[str], work: Path, what: str) -> None:
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise TailbackError(f"{what}:\n  " + "\n  ".join(lines[-5:]))
