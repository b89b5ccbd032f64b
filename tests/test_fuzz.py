"""Damaged files and arguments, drawn anew the same way each time: no reader raises anything but ProbekitError.

``make fuzz`` tries many more.
"""

import pytest
from fuzz import COMMAND, READERS, explore, outcome, place


@pytest.mark.parametrize("name", READERS)
def test_the_whole_files_are_read(name):
    with place(READERS[name].files) as folder:
        assert outcome(lambda: READERS[name].read(folder)) == ("read", "")


@pytest.mark.parametrize("name", [*READERS, COMMAND])
def test_damage_is_read_or_refused(name):
    faults, ends = [], set()

    def tell(end: str, fault: str, case: object) -> None:
        ends.add(end)
        faults.extend([f"{fault}, of {ascii(case)[:500]}"] * bool(fault))

    explore(name, 50, 1, tell)
    assert faults == [] and ends <= {"read", "refused"}


def test_what_is_foreign_is_told():
    end, fault = outcome(lambda: [][1])
    assert end == "foreign" and fault.startswith("IndexError")
