"""One part of a run: the mails of one kind, and everything that was counted while they passed."""

import dataclasses


@dataclasses.dataclass
class Part:
    name: str
    requests: int
    """Calls of mail/send."""
    copies: int
    """Mails that recipients got."""
    seconds: float
    answered: int
    """Bytes of the answers to callers."""
    uses: dict
    """By function, service and operation (meter.Use)."""
    journals: dict
    """By function (journal.Journal)."""
    batches: dict
    """Sizes of the batches by function and queue."""
    posts: int
    posted: int
    """Bytes posted to the webhook."""
    rows: list
    """Of each row that the mails left: bytes, months, and whether it is that of a copy."""
    queued: dict
    """Mean bytes of a message by queue."""
    forwarded: int = 0
    """Messages that SNS put on the feedback queue."""

    cpu: dict = dataclasses.field(default_factory=dict)
    """Seconds of processor time by function."""
    waits: dict = dataclasses.field(default_factory=dict)
    """Seconds in which a function had at least one call under way."""

    def of(self, *functions):
        """The uses of these functions; of all but the sweep without one."""
        return {
            key: use
            for key, use in self.uses.items()
            if (key[0] in functions if functions else key[0] != "schedule-sweep")
        }
