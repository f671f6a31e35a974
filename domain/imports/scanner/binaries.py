"""Files that are no text: programs, what only looks like a picture, archives, and what nobody can read."""

from collections.abc import Iterator

from contracts.imports.scanning import ScanCode
from domain.imports.scanner.findings import BLOCKS, HINTS, WARNS, Found, Weight
from domain.imports.scanner.scanned_file import ScannedFile

_PROGRAM_HEADS = (
    (b"MZ", "a Windows program"),
    (b"\x7fELF", "a Linux program or library"),
    (b"\xfe\xed\xfa\xce", "a macOS program or library"),
    (b"\xfe\xed\xfa\xcf", "a macOS program or library"),
    (b"\xce\xfa\xed\xfe", "a macOS program or library"),
    (b"\xcf\xfa\xed\xfe", "a macOS program or library"),
    (b"\xca\xfe\xba\xbe", "a Java class or a macOS program"),
    (b"dex\n", "an Android program"),
    (b"L\x00\x00\x00\x01\x14\x02\x00", "a Windows shortcut"),
)

_PROGRAM_NAMES = (
    "exe dll so dylib msi msix dmg pkg deb rpm apk ipa jar war class pyc pyo pyd scr com pif lnk cpl sys app bin elf o "
    "a ko appimage run node xpi crx docm xlsm pptm dotm xlam scpt"
)
_ORDINARY_NAMES = (
    "png jpg jpeg gif webp bmp tif tiff ico icns avif heic psd ai eps ttf otf woff woff2 eot pdf docx xlsx pptx dotx "
    "xltx potx odt ods odp rtf mp3 wav ogg flac m4a mp4 mov webm avi srt npy npz parquet feather arrow sqlite db mo po "
    "pot epub stl glb gltf obj hdr exr lut cube mid tfm icc vsdx key numbers pages"
)
_ARCHIVE_NAMES = "zip gz tgz tar bz2 xz 7z rar zst skill whl egg"
_SCRIPT_NAMES = "hta vbs vbe jse wsf wsh reg"
_PROGRAM_EXTENSIONS = frozenset(_PROGRAM_NAMES.split())
_ORDINARY = frozenset(_ORDINARY_NAMES.split())
_ARCHIVES = frozenset(_ARCHIVE_NAMES.split())
_SCRIPT_HOSTS = frozenset(_SCRIPT_NAMES.split())


def unexpected_binary(file: ScannedFile) -> Iterator[Found]:
    """What a file is by its first bytes and its name."""
    kind = next((name for head, name in _PROGRAM_HEADS if file.head.startswith(head)), None)
    extension = file.extension
    # A small program may happen to be valid UTF-8; no text holds a NUL.
    if file.text is not None and "\0" not in file.text:
        if extension in _SCRIPT_HOSTS:
            yield _found(ScanCode.PROGRAM_FILE, WARNS, "Is a script that Windows runs when it is opened.")
        return
    if kind is not None and extension in _ORDINARY:
        yield _found(ScanCode.PROGRAM_FILE, BLOCKS, f"Is {kind} under the name of something harmless.")
    elif kind is not None:
        yield _found(ScanCode.PROGRAM_FILE, BLOCKS, f"Is {kind}, which cannot be reviewed. Ship its source.")
    elif extension in _PROGRAM_EXTENSIONS:
        yield _found(
            ScanCode.PROGRAM_FILE,
            BLOCKS,
            f"Is a program by its name (.{extension}), which cannot be reviewed. Ship its source.",
        )
    elif extension == "wasm" or file.head.startswith(b"\x00asm"):
        yield _found(
            ScanCode.UNKNOWN_BINARY,
            WARNS,
            "Is WebAssembly, which cannot be reviewed. Ship its source beside it.",
        )
    elif extension in _ARCHIVES:
        yield _found(
            ScanCode.UNKNOWN_BINARY, WARNS, "Is an archive inside the bundle; what it holds is not scanned."
        )
    elif extension not in _ORDINARY:
        grave = WARNS if file.executable or file.size > 0 else HINTS
        yield _found(ScanCode.UNKNOWN_BINARY, grave, "Is no text and of no kind that skills usually hold.")


def _found(code: ScanCode, weight: Weight, why: str) -> Found:
    return Found(code, weight, None, "", why)
