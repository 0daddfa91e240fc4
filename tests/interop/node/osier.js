// A node of the `osier` binary that was built, on free ports, in a folder of its own.

import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const binary = process.env.OSIER_BIN ?? resolve(import.meta.dirname, '../../../target/debug/osier')
const PATIENCE_MS = 30_000

export class Osier {
  static async start(settings = {}, dir = mkdtempSync(join(tmpdir(), 'osier-interop-'))) {
    const args = ['--data-dir', dir, 'run', '--listen-p2p', '127.0.0.1:0']
    args.push('--listen-api', '127.0.0.1:0', '--listen-relay', '127.0.0.1:0')
    rmSync(join(dir, 'run.json'), { force: true })
    const child = spawn(binary, args, { stdio: 'ignore', env: { ...process.env, ...settings } })
    const file = join(dir, 'run.json')
    const until = Date.now() + PATIENCE_MS
    while (!existsSync(file)) {
      if (child.exitCode !== null) throw new Error(`osier run ended with ${child.exitCode}`)
      if (Date.now() > until) throw new Error('osier run is not ready')
      await sleep(20)
    }
    const run = JSON.parse(readFileSync(file, 'utf8'))
    return Object.assign(new Osier(), { dir, child, run, url: `ws://${run.relay}` })
  }

  // Runs a command of `osier` on the node's folder; what it printed.
  command(...args) {
    const done = spawnSync(binary, ['--data-dir', this.dir, ...args], { encoding: 'utf8' })
    if (done.status !== 0) throw new Error(`osier ${args.join(' ')}: ${done.stderr}`)
    return done.stdout
  }

  // Ends the process; with `keep` its folder stays.
  async stop({ keep = false } = {}) {
    const ended = new Promise((done) => this.child.once('exit', done))
    this.child.kill('SIGTERM')
    await ended
    if (!keep) rmSync(this.dir, { recursive: true, force: true })
  }
}

// The first value that is given to the callback that `begin` gets.
export function once(begin) {
  return new Promise((done, failed) => {
    const timer = setTimeout(() => failed(new Error('nothing came')), PATIENCE_MS)
    begin((value) => {
      clearTimeout(timer)
      done(value)
    })
  })
}
