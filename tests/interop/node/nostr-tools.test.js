import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { SimplePool } from 'nostr-tools/pool'
import { finalizeEvent, generateSecretKey, getPublicKey, verifyEvent } from 'nostr-tools/pure'
import { Relay, useWebSocketImplementation } from 'nostr-tools/relay'
import { useWebSocketImplementation as usePoolWebSocket } from 'nostr-tools/pool'
import { fetchRelayInformation } from 'nostr-tools/nip11'
import { nip77 } from 'nostr-tools'
import WebSocket from 'ws'
import { Osier, once } from './osier.js'

const { NegentropyStorageVector, NegentropySync } = nip77
useWebSocketImplementation(WebSocket)
usePoolWebSocket(WebSocket)

const now = () => Math.floor(Date.now() / 1000)
const sign = (key, kind, tags, content, created_at = now()) =>
  finalizeEvent({ kind, tags, content, created_at }, key)

let osier, relay
before(async () => {
  osier = await Osier.start()
  relay = await Relay.connect(osier.url)
})
after(async () => {
  relay.close()
  await osier.stop()
})

// All stored events of a request, and the subscription, which goes on.
async function stored(relay, filters, onLive = () => {}) {
  const events = []
  let subscription
  let live = false
  await once((done) => {
    subscription = relay.subscribe(filters, {
      onevent: (event) => (live ? onLive(event) : events.push(event)),
      oneose: () => {
        live = true
        done()
      },
      onclose: done,
    })
  })
  return { events, subscription }
}

test('publish, read, count', async () => {
  const key = generateSecretKey()
  const authors = [getPublicKey(key)]
  const notes = [1, 2, 3].map((n) => sign(key, 1, [['t', 'interop']], `note ${n} \u{1f600}\n"`, 1000 + n))
  for (const note of notes) await relay.publish(note)
  const { events, subscription } = await stored(relay, [{ authors, kinds: [1] }])
  assert.deepEqual(events.map((it) => it.id), notes.map((it) => it.id).reverse())
  assert.ok(events.every(verifyEvent))
  subscription.close()
  assert.equal(await relay.count([{ authors }], {}), 3)
  const forged = { ...notes[0], content: 'other' }
  await assert.rejects(relay.publish(forged), /invalid:/)
})

test('live events, also over a pool', async () => {
  const key = generateSecretKey()
  const filter = { authors: [getPublicKey(key)] }
  const live = once((done) => stored(relay, [filter], done))
  const pool = new SimplePool()
  const pooled = once((done) => {
    pool.subscribe([osier.url], filter, { onevent: done })
  })
  const note = sign(key, 1, [], 'live')
  await Promise.all(pool.publish([osier.url], note))
  assert.equal((await live).id, note.id)
  assert.equal((await pooled).id, note.id)
  assert.equal((await pool.querySync([osier.url], filter)).length, 1)
  pool.close([osier.url])
})

test('counts with a sketch', async () => {
  const target = getPublicKey(generateSecretKey())
  for (let n = 0; n < 5; n++) {
    await relay.publish(sign(generateSecretKey(), 3, [['p', target]], ''))
  }
  const answer = await relay.countWithHLL([{ kinds: [3], '#p': [target] }], {})
  assert.equal(answer.count, 5)
  assert.equal(answer.hll.length, 512)
})

test('authentication, several keys, and what is for others', async () => {
  const [alice, bob] = [generateSecretKey(), generateSecretKey()]
  const reader = await Relay.connect(osier.url)
  for (const key of [alice, bob]) {
    await relay.publish(sign(generateSecretKey(), 1059, [['p', getPublicKey(key)]], 'sealed'))
  }
  const reason = await once((done) => {
    reader.subscribe([{ kinds: [1059] }], { onclose: done })
  })
  assert.match(reason, /^auth-required:/)
  await reader.auth(async (draft) => finalizeEvent(draft, alice))
  const own = await stored(reader, [{ kinds: [1059], '#p': [getPublicKey(alice)] }])
  assert.equal(own.events.length, 1)
  const others = await stored(reader, [{ kinds: [1059] }])
  assert.deepEqual(others.events.map((it) => it.id), own.events.map((it) => it.id))
  reader.close()
})

test('negentropy both ways', async () => {
  const key = generateSecretKey()
  const filter = { authors: [getPublicKey(key)] }
  const notes = Array.from({ length: 300 }, (_, n) => sign(key, 1, [], `${n}`, 5000 + n))
  const [mine, theirs] = [notes.slice(0, 290), notes.slice(5)]
  await Promise.all(theirs.map((note) => relay.publish(note)))
  const storage = new NegentropyStorageVector()
  for (const note of mine) storage.insert(note.created_at, note.id)
  storage.seal()
  const [have, need] = [[], []]
  const error = await once((done) => {
    const sync = new NegentropySync(relay, storage, filter, {
      onhave: (id) => have.push(id),
      onneed: (id) => need.push(id),
      onclose: done,
    })
    sync.start()
  })
  assert.equal(error, undefined)
  assert.deepEqual(have.sort(), notes.slice(0, 5).map((it) => it.id).sort())
  assert.deepEqual(need.sort(), notes.slice(290).map((it) => it.id).sort())
})

test('deletion and replacement', async () => {
  const key = generateSecretKey()
  const authors = [getPublicKey(key)]
  const note = sign(key, 1, [], 'to be deleted', 7000)
  await relay.publish(note)
  await relay.publish(sign(key, 5, [['e', note.id]], '', 7001))
  assert.equal((await stored(relay, [{ ids: [note.id] }])).events.length, 0)
  await assert.rejects(relay.publish(note), /blocked:/)
  await relay.publish(sign(key, 0, [], '{"name":"a"}', 8000))
  const newest = sign(key, 0, [], '{"name":"b"}', 8001)
  await relay.publish(newest)
  const { events } = await stored(relay, [{ authors, kinds: [0] }])
  assert.deepEqual(events.map((it) => it.id), [newest.id])
})

test('the document of NIP-11', async () => {
  const fetched = await fetchRelayInformation(osier.url)
  for (const nip of [1, 9, 11, 40, 42, 45, 67, 70, 77]) {
    assert.ok(fetched.supported_nips.includes(nip), `NIP-${nip}`)
  }
  assert.equal(fetched.limitation.max_message_length, 524_288)
})

test('a client comes back after the node was away', async () => {
  const key = generateSecretKey()
  let node = await Osier.start()
  let client = await Relay.connect(node.url)
  const note = sign(key, 1, [], 'stays')
  await client.publish(note)
  const closed = once((done) => (client.onclose = done))
  await node.stop({ keep: true })
  await closed
  node = await Osier.start({}, node.dir)
  client = await Relay.connect(node.url)
  const { events } = await stored(client, [{ ids: [note.id] }])
  assert.equal(events.length, 1)
  client.close()
  await node.stop()
})
