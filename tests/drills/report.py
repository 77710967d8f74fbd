"""What a drill tells: what became of the mails, and what the alarms would have said."""

import collections

from alarms import Alarm
from local import Relay


class Report:
    """What a drill found, printed as it is found."""

    def __init__(self, name, about):
        self.failures = []
        print(f"\n{name}: {about}", flush=True)

    def say(self, what, value):
        print(f"  {what:36} {value}", flush=True)

    def must(self, good, what):
        if not good:
            self.failures.append(what)
            print(f"  FAILED: {what}", flush=True)

    def mails(self, world, load):
        """Counts what became of every mail, and looks at every refusal."""
        seen, rest = dict(Relay.seen), load.under_way()
        ends = {number: world.ended(load.accepted[number]) for number in rest}
        reasons = collections.Counter(f"{end[0]}: {end[1]}" for end in ends.values() if end)
        letters = world.dead()
        dead = {number for number in rest if any(load.accepted[number] in text for text in letters)}
        lost = {number for number in rest if not ends[number]} - dead
        twice = [len(seen[number]) - 1 for number in seen if len(seen[number]) > 1]
        self.say("accepted", len(load.accepted))
        self.say("refused, by status", load.statuses() or "none")
        self.say("refused in another shape", len(load.shapeless))
        self.say("without an answer", load.unanswered)
        self.say("longest answer, s", round(load.longest, 1))
        self.say("delivered", len(load.accepted.keys() & seen.keys()))
        self.say("delivered, though refused", len(seen.keys() - load.accepted.keys()))
        self.say("twice", f"{len(twice)} mails, {sum(twice)} arrivals too many")
        self.say("ended otherwise", dict(reasons) or "none")
        self.say("dead letters of the send queue", f"{len(letters)}, {len(dead)} of them accepted mails")
        self.say("lost", len(lost))
        self.must(not lost, f"accepted mails were lost: {sorted(lost)[:10]}")
        self.must(all(status >= 500 for _, status in load.refused), "a refusal is no 5xx")
        self.must(not load.shapeless, f"a refusal has another shape: {load.shapeless[:1]}")
        self.must(not load.unanswered, "requests had no answer")
        return sum(twice)

    def alarm(self, name, points, source, wanted=True):
        """Whether the worst period of these points passes the alarm's threshold; where it must, silence is
        a failure. `source` says where the points come from."""
        alarm = Alarm(name)
        worst = alarm.worst(points)
        crosses = worst is not None and worst > alarm.threshold
        verdict = "rings" if crosses else "silent"
        self.say(name, f"{verdict}: {alarm.metric} {worst}, threshold {alarm.threshold} ({source})")
        if wanted:
            self.must(crosses, f"{name} is silent")
        return crosses
