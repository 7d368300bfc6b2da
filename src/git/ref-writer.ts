// One `git update-ref --stdin` process for each repository whose refs move: a process for every change would cost 4 ms,
// and the event loop 8 to 50 ms for the fork of a large process.
import { GitFailure, spawnGit } from './run.js'

type Writer = {
  /** Does one transaction, after those before it. Throws GitFailure; the process has ended then. */
  move: (transaction: string) => Promise<void>
  isOpen: () => boolean
  busy: () => boolean
  close: () => Promise<void>
}

/** Writers kept at once; beyond that the one unused for longest ends. */
const limit = 8
// Idle for so long: it ends.
const idleTime = 10_000
// A ref's lock is waited for by git itself; a process that says nothing for so long hangs.
const patience = 60_000
const done = 'start: ok\nprepare: ok\ncommit: ok\n'

/** By repository, the one unused for longest first. */
const writers = new Map<string, Promise<Writer>>()

/** Does `instructions` (of `update-ref --stdin -z`) in a repository, all or none. Throws GitFailure. */
export async function writeRefs(repository: string, instructions: string): Promise<void> {
  const writer = await writerOf(repository)
  await writer.move(`start\0${instructions}prepare\0commit\0`)
}

/** Ends the writer of one repository or all, after what they were asked. */
export async function closeRefWriters(repository?: string): Promise<void> {
  const chosen = [...writers].filter(([path]) => repository === undefined || path === repository)
  await Promise.all(chosen.map(async ([, writer]) => (await writer.catch(() => undefined))?.close()))
}

async function writerOf(repository: string): Promise<Writer> {
  const known = await writers.get(repository)?.catch(() => undefined)
  const usable = known?.isOpen() ? writers.get(repository) : undefined
  const writer =
    usable ?? openWriter(repository, () => writers.get(repository) === writer && writers.delete(repository))
  writers.delete(repository)
  writers.set(repository, writer)
  if (usable === undefined) void makeRoom()
  return writer
}

async function makeRoom(): Promise<void> {
  for (const [, opening] of [...writers].slice(0, Math.max(0, writers.size - limit))) {
    const writer = await opening.catch(() => undefined)
    if (writer && !writer.busy()) await writer.close()
  }
}

async function openWriter(repository: string, gone: () => void): Promise<Writer> {
  const child = await spawnGit(['update-ref', '--no-deref', '--stdin', '-z'], { repository })
  let open = true
  let waiting = 0
  let last: Promise<unknown> = Promise.resolve()
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
    if (waiting === 0) void close()
    else idle.refresh()
  }, idleTime)
  idle.unref()
  // An idle writer does not keep the program alive, one that is waited for does.
  const keepAlive = (yes: boolean) => {
    for (const part of [child, child.stdin, child.stdout, child.stderr]) {
      const handle = part as { ref?: () => void; unref?: () => void }
      if (yes) handle.ref?.()
      else handle.unref?.()
    }
  }

  async function transact(transaction: string): Promise<void> {
    if (!open) throw new GitFailure('update-ref has ended', null, complaint)
    said = ''
    const answered = new Promise<true>(resolve => {
      heard = () => said.length >= done.length && resolve(true)
    })
    const hang = setTimeout(() => child.kill('SIGKILL'), patience)
    child.stdin.write(transaction)
    const code = await Promise.race([answered, ended])
    clearTimeout(hang)
    if (code === true && said === done) return
    open = false
    child.stdin.end()
    throw new GitFailure('update-ref failed', await ended, complaint)
  }

  async function move(transaction: string): Promise<void> {
    if (waiting++ === 0) keepAlive(true)
    const mine = last.then(() => transact(transaction))
    last = mine.catch(() => undefined)
    try {
      await mine
    } finally {
      if (--waiting === 0 && open) {
        keepAlive(false)
        idle.refresh()
      }
    }
  }

  async function close(): Promise<void> {
    await last
    if (open) {
      open = false
      keepAlive(true)
      child.stdin.end()
    }
    await ended
  }

  keepAlive(false)
  return { move, isOpen: () => open, busy: () => waiting > 0, close }
}
