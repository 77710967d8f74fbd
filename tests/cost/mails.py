"""Mails as a shop sends them: about 2 KB of text and HTML, no two alike."""

import random

SENDER = "news@example.com"
WORDS = (
    "order parcel invoice thank you for your today tomorrow delivery address account password reset "
    "question answer summer garden winter coat shoes colour size price total payment received please "
    "confirm below button team hello dear friend week month offer until while stock lasts free return"
).split()


def prose(chance, length):
    """Words until there are so many characters."""
    said = []
    while sum(len(word) + 1 for word in said) < length:
        said.append(chance.choice(WORDS))
    return " ".join(said).capitalize() + "."


def mail(number, recipients=1):
    """The request for mail `number`; the same number is the same mail."""
    chance = random.Random(number)
    text = prose(chance, 600)
    paragraphs = "".join(f"<p style=\"margin:0 0 12px\">{prose(chance, 300)}</p>" for _ in range(3))
    link = f"https://shop.example.com/orders/{number}"
    html = (
        "<html><body style=\"font-family:sans-serif;color:#222\"><h1>Your order</h1>"
        f"{paragraphs}<p><a href=\"{link}\">See your order</a></p>"
        "<p style=\"font-size:11px\">Example Shop, Main Street 1, Springfield</p></body></html>"
    )
    several = recipients > 1
    personalizations = []
    for i in range(recipients):
        one = {"to": [{"email": f"customer{number}.{i}@example.net", "name": f"Customer {number}"}]}
        if several:
            one["substitutions"] = {"-name-": f"Customer {number}.{i}"}
        personalizations.append(one)
    return {
        "personalizations": personalizations,
        "from": {"email": SENDER, "name": "Example Shop"},
        "subject": f"Your order {number} has left and will be with you soon" + (", -name-" if several else ""),
        "categories": ["orders"],
        "custom_args": {"order": str(number)},
        "content": [
            {"type": "text/plain", "value": f"{text}\n\n{link}\n"},
            {"type": "text/html", "value": html},
        ],
    }
