"""The cases, by what they are about."""

from . import charsets, clients, damage, names, reports, rfc, shapes, transfer, words

GROUPS = [rfc, charsets, words, names, shapes, transfer, clients, reports, damage]


def all_cases():
    return [case for group in GROUPS for case in group.cases()]
