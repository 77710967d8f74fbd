"""Prints the tables."""

import collections
import statistics

from bill import WORKERS
from units import KB


def table(title, head, rows):
    """Columns as wide as they must be; the first to the left, the others to the right."""
    print(f"\n{title}\n")
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, ["-" * width for width in widths], *rows]:
        cells = [row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]
        print("  ".join(cells))


def calls(parts):
    """Calls per mail by function and operation."""
    keys = sorted(set().union(*(part.of() for part in parts)))
    rows = []
    for key in keys:
        row = [" ".join(word for word in key if word)]
        for part in parts:
            use = part.uses.get(key)
            row.append(f"{use.calls / part.copies:.3f}" if use else "-")
        units = [part.uses[key] for part in parts if key in part.uses]
        row.append(f"{sum(u.writes for u in units) / sum(u.calls for u in units):.2f}")
        row.append(f"{sum(u.reads for u in units) / sum(u.calls for u in units):.2f}")
        row.append(sum(u.refused for u in units))
        rows.append(row)
    total = [sum(use.calls for use in part.of().values()) / part.copies for part in parts]
    rows.append(["all", *(f"{calls:.3f}" for calls in total), "", "", ""])
    head = ["calls per mail", *(part.name for part in parts), "writes a call", "reads a call", "refused"]
    table("What the functions called, and DynamoDB's units of one call", head, rows)


def rows_of_copies(parts):
    """How near the rows are to what one write unit holds."""
    sizes = [size for part in parts for size, _, of_copy in part.rows if of_copy]
    over = sum(size > KB for size in sizes)
    print(
        f"\nThe row of a copy: {statistics.mean(sizes):.0f} bytes on average, {max(sizes)} at most; "
        f"{over} of {len(sizes)} are larger than the {KB} of one write unit."
    )


def shape(parts, took, memory):
    """How the functions ran."""
    rows = []
    for function in WORKERS:
        for part in parts:
            journal = part.journals.get(function)
            if not journal:
                continue
            runs = len(journal.billed)
            sizes = [size for (name, _), of in part.batches.items() if name == function for size in of]
            row = [f"{function}, {part.name}", runs, f"{statistics.mean(sizes):.1f}" if sizes else "-"]
            row.append(f"{statistics.median(journal.billed):.0f}")
            row.append(f"{part.cpu.get(function, 0) * 1000 / runs:.1f}")
            row.append(f"{took[part.name][function]:.0f}")
            row.append(f"{runs * took[part.name][function] * memory[function] / 1024 / part.copies:.1f}")
            row.append(f"{journal.bytes / part.copies:.0f}")
            rows.append(row)
    head = ["invocations", "number", "batch", "emulator ms", "CPU ms", "billed ms", "GB-ms a mail", "log bytes a mail"]
    table("How they ran: medians of the emulator, its processes' time, and what Lambda would bill", head, rows)


def per_million(bills, prices, asked):
    """Dollars per million mails by service and price."""
    sums = collections.defaultdict(dict)
    for name, lines in bills.items():
        for line in lines:
            key = (line.service, line.price)
            quantity, dollars = sums[key].get(name, (0, 0))
            sums[key][name] = (quantity + line.quantity, dollars + line.dollars)
    rows = []
    for (service, price), by_part in sums.items():
        row = [prices[price]['name']]
        for name in bills:
            quantity, dollars = by_part.get(name, (0, 0))
            row += [f"{quantity:,.0f}" if quantity >= 10 else f"{quantity:.3f}", f"{dollars:.3f}"]
        rows.append(row)
    totals = [sum(line.dollars for line in lines) for lines in bills.values()]
    last = ["all, relay excluded"]
    for dollars in totals:
        last += ["", f"{dollars:.2f}"]
    rows.append(last)
    head = ["a million mails"]
    for name in bills:
        head += [name, "$"]
    table(f"Dollars per million mails ({prices['region']}, prices of {prices['date']}, no free tier)", head, rows)
    beside(totals[1], prices)
    print(
        f"Durations: processor time of the {asked.profile} profile at the share of a core that the memory buys, "
        f"calls as long as the emulator takes, {asked.relay_ms} ms for the relay, {asked.webhook_ms} ms for the webhook."
    )
    by_service(bills)


def beside(dollars, prices):
    """What that is beside the relay's own price."""
    print()
    for name in ("ses_mail", "ses_mail_essentials"):
        price = prices[name]
        ses = 1_000_000 * price["dollars"] / price["per"]
        print(f"${ses:.0f} a million: {price['name']}. The service adds {dollars / ses:.1%} to it.")


def by_service(bills):
    """The same by service."""
    services = list(dict.fromkeys(line.service for lines in bills.values() for line in lines))
    rows = []
    for service in services:
        of = [sum(line.dollars for line in lines if line.service == service) for lines in bills.values()]
        rows.append([service, *(f"{dollars:.2f}" for dollars in of)])
    rows.append(["all", *(f"{sum(line.dollars for line in lines):.2f}" for lines in bills.values())])
    table("The same by service", ["$ per million mails", *bills], rows)


def monthly(items, used, prices):
    """Dollars of an idle month, and of the metrics of a month with mails."""
    rows = [[what, f"{line.quantity:,.0f}" if line.quantity >= 10 else f"{line.quantity:.3f}", f"{line.dollars:.2f}"]
            for what, line in items if line.quantity]
    rows.append(["all", "", f"{sum(line.dollars for _, line in items):.2f}"])
    table("Dollars of an idle month", ["item", "quantity", "$"], rows)
    each = prices["metric_month"]["dollars"]
    print(f"\nIn a month with mails all the time {len(used)} metrics more: ${len(used) * each:.2f}.")
