"""A relay that can be in trouble."""

import asyncio
import email
import email.policy
import threading
import time

from local import NUMBER, Relay


class Moody(Relay):
    """A connection to a relay that does what `mood` says.

    takes    takes everything
    silent   says nothing any more, to those who come and those who are there
    mute     takes every mail, but does not answer for it
    """

    mood = "takes"
    open, mails, hung = set(), [], 0
    asleep = False

    def connection_made(self, transport):
        Moody.open.add(transport)
        self.transport = transport
        if not self.sleeps():
            super().connection_made(transport)

    def sleeps(self):
        """Whether this connection has fallen silent; none wakes up."""
        if Moody.mood == "silent" and not self.asleep:
            self.asleep = True
            Moody.hung += 1
        return self.asleep

    def data_received(self, data):
        if not self.sleeps():
            super().data_received(data)

    def connection_lost(self, why):
        Moody.open.discard(self.transport)
        super().connection_lost(why)

    def take(self, text):
        if Moody.mood == "mute":
            Moody.hung += 1
            Relay.seen[int(NUMBER.search(text).group(1))].append(time.time())
            return
        if not NUMBER.search(text):
            Moody.mails.append(email.message_from_bytes(text, policy=email.policy.default))
        super().take(text)


class Port:
    """Where the relay listens, unless it is down."""

    def __init__(self):
        self.loop, self.server, self.port = asyncio.new_event_loop(), None, 0
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.up()

    @property
    def mails(self):
        """The mails without a number."""
        return Moody.mails

    def run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(30)

    def up(self):
        async def listen():
            self.server = await self.loop.create_server(Moody, "127.0.0.1", self.port, backlog=512)
            self.port = self.server.sockets[0].getsockname()[1]

        self.run(listen())

    def down(self):
        """Nobody listens any more, and whoever is connected is cut off."""

        async def close():
            self.server.close()
            for transport in list(Moody.open):
                transport.abort()

        self.run(close())
