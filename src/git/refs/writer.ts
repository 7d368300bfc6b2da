// One `git update-ref --stdin` process for each repository whose refs change. A new process for every change would cost
// 4 ms, and would block the event loop for 8 to 50 ms, because the fork of a large process takes so long.

import { Limiter } from '../../lib/limiter.js'
import { atEnd } from '../../lib/shutdown.js'
import { mostAtOnce } from '../process/limits.js'
import { keepAlive, type Pooled, ProcessPool } from '../process/pool.js'
import { GitFailure, spawnGit } from '../process/run.js'

interface Writer extends Pooled {
  /**
   * Runs one transaction, after those before it. Throws GitFailure; the process has then ended. Returns false when an
   * earlier transaction has ended the process: then nothing was done.
   */
  readonly move: (transaction: string) => Promise<boolean>
}

// The process ends when it has been idle for this many milliseconds.
const IDLE_TIME = 10_000
// Git itself waits for a ref's lock. A process that does not answer for this many milliseconds hangs and is killed.
const PATIENCE = 60_000
const DONE = 'start: ok\nprepare: ok\ncommit: ok\n'

const writers = new ProcessPool<Writer>({ lanes: 1, limit: () => mostAtOnce('refs', 8) }, openWriter)

/** Applies `instructions` (in the syntax of `update-ref --stdin -z`) to a repository, all or none. Throws GitFailure. */
export async function writeRefs(repository: string, instructions: string): Promise<void> {
  const transaction = `start\0${instructions}prepare\0commit\0`
  // The failure of another change does not affect this one: it goes to the next process.
  while (!(await (await writers.of(repository)).move(transaction)));
}

/** Ends the writer of one repository, or of all repositories, after it has finished all pending changes. */
export const closeRefWriters = (repository?: string): Promise<void> => writers.close(repository)

atEnd(closeRefWriters)

async function openWriter(repository: string, gone: () => void): Promise<Writer> {
  const child = await spawnGit(['update-ref', '--no-deref', '--stdin', '-z'], { repository, kind: 'helper' })
  let open = true
  const turns = new Limiter({ capacity: 1 })
  const pending = () => turns.held + turns.queued
  let said = ''
  let complaint = ''
  let heard: () => void = () => undefined
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
    heard()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(0, 4096)
  })
  const ended = new Promise<number | null>(resolve => {
    child.once('error', () => child.kill('SIGKILL'))
    child.once('close', code => {
      open = false
      clearTimeout(idle)
      gone()
      resolve(code)
    })
  })
  const idle = setTimeout(() => {
    if (pending() === 0) void close()
    else idle.refresh()
  }, IDLE_TIME)
  idle.unref()
  async function transact(transaction: string): Promise<boolean> {
    if (!open) return false
    said = ''
    const answered = new Promise<true>(resolve => {
      heard = () => said.length >= DONE.length && resolve(true)
    })
    const hang = setTimeout(() => child.kill('SIGKILL'), PATIENCE)
    child.stdin.write(transaction)
    const code = await Promise.race([answered, ended])
    clearTimeout(hang)
    if (code === true && said === DONE) return true
    open = false
    child.stdin.end()
    throw new GitFailure('update-ref failed', await ended, complaint)
  }

  async function move(transaction: string): Promise<boolean> {
    if (pending() === 0) keepAlive(child, true)
    try {
      return await turns.run({}, () => transact(transaction))
    } finally {
      if (pending() === 0 && open) {
        keepAlive(child, false)
        idle.refresh()
      }
    }
  }

  async function close(): Promise<void> {
    await turns.run({}, () => {
      if (!open) return
      open = false
      keepAlive(child, true)
      child.stdin.end()
    })
    await ended
  }

  keepAlive(child, false)
  return { move, isOpen: () => open, pending, close }
}
