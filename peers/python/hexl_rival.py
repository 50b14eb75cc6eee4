"""Transforms of HEXL behind the line protocol of peers/README.md."""

import os

import native_hexl

import protocol
from protocol import Later, Operation


def hello():
    return {
        "library": "HEXL",
        "version": os.environ.get("SUNZI_PEER_VERSION", "unknown"),
        "features": os.environ.get("SUNZI_PEER_FEATURES", "a build of its own"),
    }


class Repeated(Operation):
    """What counts its calls itself: a transform is short."""

    def __init__(self, repeat, opened):
        super().__init__(lambda: repeat(1), opened)
        self.repeat = repeat


class Job:
    """One negacyclic transform modulo one prime."""

    def __init__(self, asked):
        if asked["scheme"] != "ntt" or len(asked["q"]) != 1:
            raise ValueError("HEXL has transforms only, modulo one prime at a time")
        left, right = asked["left"], asked["right"]
        transform = native_hexl.Transform(asked["n"], asked["q"][0], left)

        def product():
            return transform.product(left, right)

        self.operations = Later({
            "forward": lambda: Repeated(transform.forward, product),
            "inverse_normalized": lambda: Repeated(transform.inverse, product),
        })

    def said(self):
        return {}


if __name__ == "__main__":
    protocol.serve(hello, Job)
