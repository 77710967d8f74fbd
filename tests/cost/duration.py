"""How long Lambda would bill an invocation for.

The emulator's own durations are no use: its runtime API adds some 50 ms to each, and a busy machine any
number. So a duration is put together: the processor time that the function's process took, at the share
of a core that its memory buys; the time in which calls to AWS were under way while nothing else was,
for AWS answers many at once where the emulator answers one after another, and a batch is worked on at
once; and what the relay and the webhook take to answer, which nothing here can measure and the caller
says.
"""

# Memory that buys one whole core (AWS Lambda developer guide, configure memory).
WHOLE_CORE = 1769


def milliseconds(part, function, memory, quiet, answers):
    """Of one invocation on average. `quiet` is a part in which every call had the emulator to itself;
    `answers` what else each function waits for."""
    processor = part.cpu.get(function, 0.0) / len(part.journals[function].billed)
    calm = quiet if function in quiet.journals else part
    waited = calm.waits.get(function, 0.0) / len(calm.journals[function].billed)
    share = max(1.0, WHOLE_CORE / memory[function])
    return (processor * share + waited) * 1000 + answers.get(function, 0)


def covered(intervals):
    """Seconds in which at least one was under way."""
    total, end = 0.0, 0.0
    for begin, until in sorted(intervals):
        if until > end:
            total += until - max(begin, end)
            end = until
    return total
