"""What can go wrong, by who has to act."""


class Error(Exception):
    """message: what is wrong; owner: "user", "nereid", "device" or "environment"; remedy: what to do, or "";
    where: "file:line" of a kernel's source, or ""."""

    owner = ""

    def __init__(self, message, remedy="", where=""):
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        self.where = where

    def __str__(self):
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.owner} error: {self.message}" + (f". {self.remedy}" if self.remedy else "")


class UserFault(Error, ValueError):
    """Arguments, files, a kernel of the caller's."""
    owner = "user"


class NereidFault(Error):
    """A defect or a missing part of Nereid."""
    owner = "nereid"


class DeviceFault(Error):
    """A fault while a kernel ran."""
    owner = "device"


class EnvironmentFault(Error, OSError):
    """The machine: libraries, files, memory."""
    owner = "environment"


def error_of(status, message, remedy="", where=""):
    """The exception of a nereid_status that is not NEREID_OK."""
    kinds = {1: UserFault, 2: NereidFault, 3: DeviceFault, 4: EnvironmentFault}
    return kinds.get(status, NereidFault)(message, remedy, where)
