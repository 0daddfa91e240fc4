import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import WebSocket from 'ws'
import { Osier, once } from './osier.js'

globalThis.WebSocket ??= WebSocket
const { default: NDK, NDKEvent, NDKPrivateKeySigner, NDKRelayAuthPolicies } = await import(
  '@nostr-dev-kit/ndk'
)

let osier, ndk
before(async () => {
  osier = await Osier.start()
  ndk = new NDK({
    explicitRelayUrls: [osier.url],
    signer: NDKPrivateKeySigner.generate(),
    enableOutboxModel: false,
  })
  ndk.relayAuthDefaultPolicy = NDKRelayAuthPolicies.signIn({ ndk })
  await ndk.connect(5_000)
})
after(async () => {
  for (const relay of ndk.pool.relays.values()) relay.disconnect()
  await osier.stop()
})

test('publish and fetch', async () => {
  const author = (await ndk.signer.user()).pubkey
  const event = new NDKEvent(ndk, { kind: 1, content: 'by NDK', tags: [['t', 'ndk']] })
  const relays = await event.publish(undefined, 10_000, 1)
  assert.equal(relays.size, 1)
  const found = await ndk.fetchEvents({ kinds: [1], authors: [author] })
  assert.deepEqual([...found].map((it) => it.id), [event.id])
  const one = await ndk.fetchEvent(event.id)
  assert.equal(one.content, 'by NDK')
})

test('live', async () => {
  const author = (await ndk.signer.user()).pubkey
  const live = once((done) => {
    const subscription = ndk.subscribe({ kinds: [7], authors: [author] }, { closeOnEose: false })
    subscription.on('event', done)
    subscription.on('eose', () => {
      new NDKEvent(ndk, { kind: 7, content: '+', tags: [] }).publish()
    })
  })
  assert.equal((await live).content, '+')
})

test('authentication as the relay asks for it', async () => {
  const author = (await ndk.signer.user()).pubkey
  const wrap = new NDKEvent(ndk, { kind: 1059, content: 'sealed', tags: [['p', author]] })
  await wrap.sign(NDKPrivateKeySigner.generate())
  await wrap.publish(undefined, 10_000, 1)
  const found = await ndk.fetchEvents({ kinds: [1059], '#p': [author] })
  assert.deepEqual([...found].map((it) => it.id), [wrap.id])
})
