"""Errors: one class for each kind, named as in the Rust library, in groups by what to do about them."""

from ._computing import *  # noqa: F403
from ._data import *  # noqa: F403
from ._groups import *  # noqa: F403
from ._parties import *  # noqa: F403
from ._server import *  # noqa: F403
