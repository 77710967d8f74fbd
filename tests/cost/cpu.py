"""The processor time of the functions' processes: unlike a duration it is the same on a busy machine."""

import collections
import os
import pathlib
import threading

TICK = os.sysconf("SC_CLK_TCK")


class Cpu:
    """Looks at the processes now and then, for those that end take their figures along."""

    def __init__(self, functions):
        self.functions = functions
        """Function by the name that the emulator runs it under."""
        self.known, self.spent = {}, {}
        self.told = collections.Counter()
        self.ended = threading.Event()
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def watch(self):
        while not self.ended.wait(0.5):
            self.look()

    def look(self):
        with self.lock:
            for entry in pathlib.Path("/proc").iterdir():
                if entry.name.isdigit() and (function := self.function(entry)):
                    try:
                        # After the name in brackets, which may hold anything; in clock ticks.
                        fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                    except OSError:
                        continue
                    self.spent[entry.name] = (function, (int(fields[11]) + int(fields[12])) / TICK)

    def function(self, process):
        """Whose process it is; one that has not become a function yet may be one the next time."""
        if process.name not in self.known:
            try:
                variables = (process / "environ").read_bytes().split(b"\0")
            except OSError:
                return None
            for variable in variables:
                name, _, value = variable.partition(b"=")
                if name == b"AWS_LAMBDA_FUNCTION_NAME" and value.decode() in self.functions:
                    self.known[process.name] = self.functions[value.decode()]
        return self.known.get(process.name)

    def taken(self):
        """Seconds by function since this was last asked."""
        self.look()
        total = collections.Counter()
        with self.lock:
            for function, seconds in self.spent.values():
                total[function] += seconds
        new = {function: total[function] - self.told[function] for function in total}
        self.told = total
        return new

    def close(self):
        self.ended.set()
        self.thread.join()
