"""Each client's own behaviour after a 429, played against a host whose limit is one request in two seconds.

The rules are those of the clients' sources, in the versions of README.md:
* Go (`MakeRequestRetry`): up to five more tries, 1.1 s apart. It looks for a spelling of the reset header that Go's own
  canonical form never has.
* Java (`BaseInterface.attempt`): the same figures.
* PHP (`Client::retryRequest`, when asked for): one more try, at the second that the array of header lines gives under
  exactly `X-Ratelimit-Reset`.
* Ruby and C#: none; the 429 is the program's to handle.
"""
import json
import time

TRIES, PAUSE = 5, 1.1
FLAGS = ("--rate-limit=1", "--rate-period=2")


def fixed_pause(send):
    """Go and Java."""
    answer = send()
    for _ in range(TRIES):
        if answer.status != 429:
            break
        time.sleep(PAUSE)
        answer = send()
    return answer


def until_reset(send):
    """PHP."""
    answer = send()
    if answer.status == 429:
        lines = dict(zip(answer.names, answer.spelled_values))
        time.sleep(max(0, int(lines["X-Ratelimit-Reset"]) - time.time()))
        answer = send()
    return answer


def never(send):
    """Ruby and C#."""
    return send()


RETRIES = {"go": fixed_pause, "java": fixed_pause, "php": until_reset, "ruby": never, "csharp": never}


def first_mail(recording):
    """The first request of a recording that is a mail."""
    lines = map(json.loads, recording.read_text("utf-8").splitlines())
    return next(line for line in lines if line["path"] == "/v3/mail/send" and line["status"] == 202)


def limited(send):
    """Uses the limit up: the answer past it."""
    for _ in range(20):
        answer = send()
        if answer.status == 429:
            return answer
    return answer
