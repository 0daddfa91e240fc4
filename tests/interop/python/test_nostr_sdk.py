"""rust-nostr's nostr-sdk, by its Python package, against a node's relay."""

import asyncio
import unittest

from nostr_sdk import (
    ClientBuilder,
    EventBuilder,
    Filter,
    Keys,
    Kind,
    NostrLmdb,
    RelayUrl,
    ReqTarget,
    SignerAuthenticator,
    SyncDirection,
    SyncOptions,
    Tag,
    Timestamp,
    uniffi_set_event_loop,
)

from osier import Osier


def note(keys, content, kind=1, tags=(), at=None):
    builder = EventBuilder(Kind(kind), content).tags([Tag.parse(tag) for tag in tags])
    if at is not None:
        builder = builder.custom_created_at(Timestamp.from_secs(at))
    return builder.finalize(keys)


class NostrSdk(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        # The library calls back from threads of its own.
        uniffi_set_event_loop(asyncio.get_running_loop())
        asyncio.get_running_loop().set_debug(False)
        self.osier = Osier()
        self.keys = Keys.generate()
        self.client = await self.connect(ClientBuilder())

    async def asyncTearDown(self):
        await self.client.shutdown()
        self.osier.stop()

    async def connect(self, builder):
        client = builder.build()
        await client.add_relay(RelayUrl.parse(self.osier.url))
        await client.try_connect()
        return client

    async def send(self, client, event):
        sent = await client.send_event(event)
        self.assertEqual(sent.failed, {})
        self.assertEqual(len(sent.success), 1)

    async def ids(self, client, filter):
        events = await client.fetch_events(ReqTarget.auto([filter]))
        self.assertTrue(all(event.verify() for event in events))
        return [event.id().to_hex() for event in events]

    async def test_publish_and_fetch(self):
        events = [note(self.keys, f"note {n}", at=1_000 + n) for n in range(30)]
        for event in events:
            await self.send(self.client, event)
        mine = Filter().author(self.keys.public_key()).kind(Kind(1))
        expected = [event.id().to_hex() for event in reversed(events)]
        self.assertEqual(await self.ids(self.client, mine), expected)
        self.assertEqual(await self.ids(self.client, mine.limit(3)), expected[:3])

    async def test_live(self):
        mine = Filter().author(self.keys.public_key()).limit(0)
        reader = await self.connect(ClientBuilder())
        notifications = reader.notifications()
        await reader.subscribe(ReqTarget.auto([mine]))
        event = note(self.keys, "live")
        await self.send(self.client, event)
        async with asyncio.timeout(30):
            while True:
                said = await notifications.next()
                if said.is_new_event():
                    break
        self.assertEqual(said.event.id().to_hex(), event.id().to_hex())
        await reader.shutdown()

    async def test_authentication(self):
        wrap = note(Keys.generate(), "sealed", 1059, [["p", self.keys.public_key().to_hex()]])
        await self.send(self.client, wrap)
        builder = ClientBuilder().authenticator(SignerAuthenticator(self.keys))
        reader = await self.connect(builder)
        gated = Filter().kind(Kind(1059)).pubkey(self.keys.public_key())
        self.assertEqual(await self.ids(reader, gated), [wrap.id().to_hex()])
        await reader.shutdown()

    async def test_negentropy_both_ways(self):
        events = [note(self.keys, f"{n}", at=5_000 + n) for n in range(100)]
        mine, theirs = events[:90], events[10:]
        for event in theirs:
            await self.send(self.client, event)
        database = await NostrLmdb.open(str(self.osier.folder / "client"))
        other = await self.connect(ClientBuilder().database(database))
        for event in mine:
            await other.database().save_event(event)
        filter = Filter().author(self.keys.public_key()).kind(Kind(1))
        options = SyncOptions().direction(SyncDirection.BOTH)
        done = await other.sync(filter, opts=options)
        ids = lambda events: sorted(event.id().to_hex() for event in events)
        self.assertEqual(sorted(id.to_hex() for id in done.report.received), ids(events[90:]))
        self.assertEqual(sorted(id.to_hex() for id in done.report.sent), ids(events[:10]))
        self.assertEqual(len(await self.ids(self.client, filter)), 100)
        await other.shutdown()


if __name__ == "__main__":
    unittest.main()
