import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { NostrFetcher } from 'nostr-fetch'
import { finalizeEvent, generateSecretKey } from 'nostr-tools/pure'
import WebSocket from 'ws'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Osier } from './osier.js'

let osier, fetcher, notes
before(async () => {
  // It cannot read an EOSE of three elements, and waits for another.
  osier = await Osier.start({ OSIER_RELAY_EOSE_HINTS: 'false' })
  const key = generateSecretKey()
  notes = Array.from({ length: 1_234 }, (_, n) =>
    finalizeEvent({ kind: 1, tags: [], content: `${n}`, created_at: 1_000 + Math.floor(n / 3) }, key),
  )
  const file = join(osier.dir, 'notes.jsonl')
  writeFileSync(file, notes.map((it) => JSON.stringify(it)).join('\n'))
  osier.command('import', 'lobby', file)
  fetcher = NostrFetcher.init({ webSocketConstructor: WebSocket })
})
after(async () => {
  fetcher.shutdown()
  await osier.stop()
})

test('everything is fetched by pages', async () => {
  const author = notes[0].pubkey
  const found = await fetcher.fetchAllEvents([osier.url], { kinds: [1], authors: [author] }, {})
  assert.deepEqual(found.map((it) => it.id).sort(), notes.map((it) => it.id).sort())
})

test('the newest are fetched', async () => {
  const found = await fetcher.fetchLatestEvents([osier.url], { kinds: [1] }, 400)
  assert.equal(found.length, 400)
  const times = notes.map((it) => it.created_at).sort((a, b) => b - a)
  assert.deepEqual(found.map((it) => it.created_at), times.slice(0, 400))
})
