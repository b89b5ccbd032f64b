"""The tool that turns a published classifier into numbers: files of its form, written here, and nothing run."""

from __future__ import annotations

import io
import pickle
import zipfile

import numpy as np
import pytest
from safetensors.numpy import load

from tools import linear


class NumpyArrayWrapper:
    """What joblib pickles in place of an array, whose bytes follow."""

    def __init__(self, array: np.ndarray) -> None:
        self.subclass, self.shape, self.order, self.dtype = np.ndarray, array.shape, "C", array.dtype
        self.allow_mmap, self.numpy_array_alignment_bytes = True, 16


class Joblib(pickle._Pickler):
    """joblib's way to pickle, as far as these files need it."""

    def save(self, obj, save_persistent_id=True):
        if not isinstance(obj, np.ndarray):
            return super().save(obj)
        super().save(NumpyArrayWrapper(obj))
        self.framer.commit_frame(force=True)
        self._file_write(b"\x03\xff\xff\xff" + obj.tobytes())


class Part:
    def __init__(self, **fields):
        self.__dict__.update(fields)


class Trap:
    def __reduce__(self):
        return (pytest.fail, ("the pickle was run",))


def pickled(obj) -> bytes:
    out = io.BytesIO()
    made = Joblib(out, 4)
    made._file_write = out.write
    made.dump(obj)
    return out.getvalue()


def test_numbers_are_taken_and_nothing_is_run():
    machines = [
        Part(coef_=np.array([[1.0 + i, 2.0]]), intercept_=np.array([0.5]), a_=np.float64(-1 - i), b_=np.float64(i))
        for i in range(2)
    ]
    vectorizer = Part(trap=Trap(), idf_=np.array([3.0, 4.0]), vocabulary_={"day": 1, "bad": 0})
    wheel = io.BytesIO()
    with zipfile.ZipFile(wheel, "w") as files:
        files.writestr("profanity_check/data/model.joblib", pickled(machines))
        files.writestr("profanity_check/data/vectorizer.joblib", pickled(vectorizer))
    found = load(linear.converted(wheel.getvalue()))
    assert found.pop("words").tobytes() == b"bad\nday"
    assert {name: value.tolist() for name, value in found.items()} == {
        "idf": [3, 4],
        "coefficients": [[1, 2], [2, 2]],
        "intercepts": [0.5, 0.5],
        "slopes": [-1, -2],
        "offsets": [0, 1],
    }
