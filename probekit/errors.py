"""The one family of errors; each message names what was found, where, and what to do."""


class ProbekitError(Exception):
    """Anything this package refuses, in words its user can act on."""


class ProbeError(ProbekitError, ValueError):
    """A probe, a data file or a data folder does not hold what it should."""


class ModelError(ProbekitError):
    """A model cannot be found, loaded, or asked this way."""


class StoreError(ProbekitError):
    """Results cannot be written or read."""


class ReportError(ProbekitError):
    """A notebook, its parameters, the book or the ledger cannot be processed."""
