import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { matchFilters } from 'nostr-tools/filter'
import { finalizeEvent, generateSecretKey, getPublicKey } from 'nostr-tools/pure'
import { Relay, useWebSocketImplementation } from 'nostr-tools/relay'
import WebSocket from 'ws'
import { Osier } from './osier.js'

globalThis.WebSocket ??= WebSocket
useWebSocketImplementation(WebSocket)
const { default: NDK, NDKEvent } = await import('@nostr-dev-kit/ndk')
const { NDKSync } = await import('@nostr-dev-kit/sync')

// What NDK knows, in memory: its sync compares this with what the relay has.
class Cache {
  locking = true
  ready = true
  events = new Map()
  query(subscription) {
    const all = [...this.events.values()]
    const found = all.filter((it) => matchFilters(subscription.filters, it.rawEvent()))
    return found
  }
  async setEvent(event) {
    this.events.set(event.id, event)
  }
}

let osier, relay
before(async () => {
  osier = await Osier.start()
  relay = await Relay.connect(osier.url)
})
after(async () => {
  relay.close()
  await osier.stop()
})

test('negentropy finds what either side lacks, and fetches it', async () => {
  const key = generateSecretKey()
  const filter = { kinds: [1], authors: [getPublicKey(key)] }
  const notes = Array.from({ length: 300 }, (_, n) =>
    finalizeEvent({ kind: 1, tags: [], content: `${n}`, created_at: 5_000 + n }, key),
  )
  const [mine, theirs] = [notes.slice(0, 290), notes.slice(5)]
  await Promise.all(theirs.map((note) => relay.publish(note)))

  const cacheAdapter = new Cache()
  const ndk = new NDK({ explicitRelayUrls: [osier.url], cacheAdapter, enableOutboxModel: false })
  await ndk.connect(5_000)
  for (const note of mine) cacheAdapter.setEvent(new NDKEvent(ndk, note))
  const [ours] = ndk.pool.relays.values()
  const sync = new NDKSync(ndk)
  assert.ok(await sync.checkRelaySupport(ours), 'the document of NIP-11 names NIP-77')
  const failed = []
  const options = { onRelayError: (_, error) => failed.push(error) }
  const done = await sync.sync(filter, options)
  assert.deepEqual(failed, [])
  const ids = (events) => events.map((it) => it.id).sort()
  assert.deepEqual([...done.have].sort(), ids(notes.slice(0, 5)))
  assert.deepEqual([...done.need].sort(), ids(notes.slice(290)))
  assert.deepEqual(ids(done.events), ids(notes.slice(290)))

  // What the relay lacks is for the application to publish; then both hold the same.
  for (const note of notes.slice(0, 5)) await relay.publish(note)
  const again = await sync.sync(filter, options)
  assert.deepEqual([failed.length, again.have.size, again.need.size], [0, 0, 0])
  for (const one of ndk.pool.relays.values()) one.disconnect()
})
