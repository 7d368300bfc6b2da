// One `git diff-tree --stdin` process. Commits are sent as they come and answered in order: 8,000 a second, where a
// process for each gives 50.
import { randomBytes } from 'node:crypto'
import { keepAlive, type Pooled } from './process-pool.js'
import { GitFailure, spawnGit } from './run.js'

export type DiffKind = 'stats' | 'paths'

/** `lost` when the process ended before its turn came. */
export type DiffOutcome = { text: string } | { failed: GitFailure } | { lost: true }

export interface DiffProcess extends Pooled {
  /** `commits` is a commit with the parent to hold it against, as diff-tree reads them. */
  ask: (commits: string) => Promise<DiffOutcome>
}

const formats: Record<DiffKind, string[]> = {
  stats: ['--shortstat'],
  paths: ['--name-status', '--no-renames', '-z']
}
/** Bytes of one answer. */
const maxAnswer = 16 * 1024 * 1024
/** Busy with one answer for so long: it is killed. */
const patience = 60_000
/** Idle for so long: it ends. */
const idleTime = 10_000
/** It keeps what it has parsed: after so many answers another one begins afresh. */
const lifetime = 10_000

/** Starts one. Throws GitFailure when it cannot be started. */
export async function openDiffProcess(repository: string, kind: DiffKind, gone: () => void): Promise<DiffProcess> {
  const args = ['diff-tree', '--stdin', '--root', '-r', '--no-ext-diff', '--no-textconv', ...formats[kind]]
  const child = await spawnGit(args, { repository })
  // A line that is no commit is given back as it is: it tells where an answer ends, and no path can hold it.
  const mark = Buffer.from(`end-${randomBytes(16).toString('hex')}\n`)
  const waiting: ((outcome: DiffOutcome) => void)[] = []
  let open = true
  let asked = 0
  let complaint = ''
  let answer: Buffer[] = []
  let size = 0
  let tail: Buffer = Buffer.alloc(0)
  const clock = setTimeout(() => {
    if (waiting.length === 0) void close()
    else if (performance.now() - since < patience) clock.refresh()
    else fail(new GitFailure('git diff-tree: no answer'))
  }, idleTime).unref()
  let since = performance.now()

  /** It failed at the first in line; the others are told that they may ask again. */
  function fail(error: GitFailure): void {
    open = false
    waiting.shift()?.({ failed: error })
    child.kill('SIGKILL')
  }

  function take(chunk: Buffer): void {
    answer.push(chunk)
    size += chunk.length
    // The mark may lie across two chunks.
    const border = Buffer.concat([tail, chunk.subarray(0, mark.length)])
    tail = Buffer.concat([tail, chunk.subarray(-mark.length)]).subarray(-mark.length)
    if (border.includes(mark) || chunk.includes(mark)) cut(Buffer.concat(answer))
    else if (size > maxAnswer) fail(new GitFailure(`git diff-tree: more than ${maxAnswer} bytes of output`))
  }

  function cut(text: Buffer): void {
    let rest = text
    for (let at = rest.indexOf(mark); at !== -1; at = rest.indexOf(mark)) {
      waiting.shift()?.({ text: rest.toString('utf8', 0, at) })
      rest = rest.subarray(at + mark.length)
    }
    answer = [rest]
    size = rest.length
    tail = rest.subarray(-mark.length)
    since = performance.now()
    clock.refresh()
    if (waiting.length === 0 && open) keepAlive(child, false)
  }

  function ask(commits: string): Promise<DiffOutcome> {
    return new Promise(settle => {
      if (!open) return settle({ lost: true })
      if (waiting.length === 0) {
        keepAlive(child, true)
        since = performance.now()
      }
      waiting.push(settle)
      child.stdin.write(`${commits}\n${mark.toString()}`)
      asked += 1
      if (asked === lifetime) void close()
    })
  }

  function close(): Promise<void> {
    if (open) {
      open = false
      keepAlive(child, true)
      child.stdin.end()
    }
    return ended
  }

  child.stdout.on('data', take)
  child.stderr.on('data', chunk => {
    complaint = (complaint + String(chunk)).slice(0, 4096)
  })
  child.once('error', () => child.kill('SIGKILL'))
  const ended = new Promise<void>(resolve => {
    child.once('close', code => {
      open = false
      clearTimeout(clock)
      // It said no to the first in line, or somebody killed it and nobody is to blame.
      if (code) waiting.shift()?.({ failed: new GitFailure(`git diff-tree: ${complaint.trim()}`, code, complaint) })
      for (const settle of waiting.splice(0)) settle({ lost: true })
      gone()
      resolve()
    })
  })
  keepAlive(child, false)
  return { ask, isOpen: () => open, pending: () => waiting.length, close }
}
