"""Makes the wheel (PEP 517) with nothing but Python. libnereid.so goes into it where there is one: what NEREID_LIBRARY
names, else that of the source tree's build folder."""

import base64
import hashlib
import os
import pathlib
import sysconfig
import zipfile

_here = pathlib.Path(__file__).parent
_name, _version = "nereid", "0.1.0"
_info = f"{_name}-{_version}.dist-info"
_library = "libnereid.so.1"


def _native_library():
    named = os.environ.get("NEREID_LIBRARY")
    if named and not pathlib.Path(named).is_file():
        raise SystemExit(f"NEREID_LIBRARY names {named}, which is no file")
    path = pathlib.Path(named) if named else _here.parent / "build" / "lib" / _library
    return path if path.is_file() else None


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    native = _native_library()
    tag = "py3-none-any"
    files = {f"nereid/{path.name}": path.read_bytes() for path in sorted((_here / "nereid").glob("*.py"))}
    if native:
        tag = "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
        files[f"nereid/{_library}"] = native.read_bytes()
    files[f"{_info}/METADATA"] = (f"Metadata-Version: 2.1\nName: {_name}\nVersion: {_version}\n"
                                  "License: MIT\nRequires-Python: >=3.9\n").encode()
    files[f"{_info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: nereid\nRoot-Is-Purelib: {str(not native).lower()}\n"
                               f"Tag: {tag}\n").encode()
    record = ""
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{_info}/RECORD"] = f"{record}{_info}/RECORD,,\n".encode()
    wheel = f"{_name}-{_version}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return wheel
