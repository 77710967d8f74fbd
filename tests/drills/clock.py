"""A clock for one program, which a drill sets forward or back, or lets run faster. Needs cc."""

import mmap
import os
import pathlib
import struct
import subprocess
import time

SOURCE = pathlib.Path(__file__).with_name("clock.c")
NUMBERS = struct.Struct("@qqqq")


class Clock:
    """The clock of every program started with its `environment`. Its files lie in `folder`."""

    def __init__(self, folder, speed=1):
        self.library, self.file = os.path.join(folder, "clock.so"), os.path.join(folder, "clock")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", self.library, SOURCE, "-ldl"], check=True)
        self.speed, self.real, self.steady, self.jumped = speed, time.time_ns(), time.monotonic_ns(), 0
        with open(self.file, "wb") as file:
            file.write(self.numbers())
        with open(self.file, "r+b") as file:
            self.page = mmap.mmap(file.fileno(), NUMBERS.size)
        self.environment = {"LD_PRELOAD": self.library, "DRILL_CLOCK": self.file}

    def numbers(self):
        return NUMBERS.pack(self.speed, self.real, self.steady, self.jumped)

    def jump(self, seconds):
        """Sets the time of day of running programs forward, or back."""
        self.jumped += int(seconds * 1e9)
        self.page[:] = self.numbers()

    def now(self):
        """What time of day the programs see."""
        return (self.real + (time.time_ns() - self.real) * self.speed + self.jumped) / 1e9
