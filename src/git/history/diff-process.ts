// One `git diff-tree --stdin` process. It gets commits one after the other and answers them in order: 8,000 a second,
// compared with 50 a second when each commit has its own process.
import { randomBytes } from 'node:crypto'
import { processStatus } from '../../lib/process-status.js'
import type { GitKind } from '../process/limits.js'
import { keepAlive, type Pooled } from '../process/pool.js'
import { failure, GitFailure, GitLimit, spawnGit } from '../process/run.js'

export type DiffKind = 'stats' | 'paths' | 'patches'

/** `lost` means that the process ended before it reached this question. */
type DiffOutcome = { readonly answer: Buffer } | { readonly failed: GitFailure } | { readonly lost: true }

/** The answer is larger than a shared process may return, because other callers wait for it. */
export class LargeAnswer extends GitFailure {
  override name = 'LargeAnswer'
}

export interface DiffProcess extends Pooled {
  /** `commits` is a commit and the one to compare it with, in the syntax that diff-tree reads. */
  readonly ask: (commits: string) => Promise<DiffOutcome>
}

export const FORMATS: Record<DiffKind, string[]> = {
  stats: ['--shortstat'],
  paths: ['--name-status', '--no-renames', '-z'],
  // The list of changed files comes before the texts, with unquoted names.
  patches: ['--find-renames', '--raw', '--patch', '-z']
}
/** Git reads no files to compare paths. */
const LIMITS: Record<DiffKind, GitKind> = { stats: 'work', paths: 'helper', patches: 'work' }
/** Maximum bytes of one answer. Larger texts come from a separate process, so that nobody waits behind them. */
const MAX_ANSWER: Record<DiffKind, number> = { stats: 16_777_216, paths: 16_777_216, patches: 1_048_576 }
/** The process is killed when one answer takes longer than this many milliseconds. */
const PATIENCE = 60_000
/**
 * The process is killed when one answer takes more processor time than this many seconds. This is enough to compare a
 * thousand large files, and limits how long the following questions wait. It is checked every TURN milliseconds.
 */
const PROCESSOR_LIMIT = 3
/** Milliseconds between two checks of the process. */
const TURN = 500
/** The process ends when it has been idle for this many milliseconds. */
const IDLE_TIME = 10_000
/** Git keeps parsed objects in memory, so after this many answers a new process takes over. */
const LIFETIME = 10_000

/** The arguments for a process that reads commits from its input. File names are written as UTF-8, as clients expect. */
export const diffArgs = (format: readonly string[]): string[] => [
  ...['-c', 'core.quotePath=false', 'diff-tree', '--stdin', '--root', '-r', '--no-ext-diff', '--no-textconv'],
  ...format
]

/** Starts a process. Throws GitFailure when git cannot be started. */
export async function openDiffProcess(repository: string, kind: DiffKind, gone: () => void): Promise<DiffProcess> {
  const args = diffArgs(FORMATS[kind])
  const child = await spawnGit(args, { repository, kind: LIMITS[kind] })
  // diff-tree prints a line that is not a commit unchanged. The mark shows where an answer ends, and no path can contain it.
  const mark = Buffer.from(`end-${randomBytes(16).toString('hex')}\n`)
  const waiting: ((outcome: DiffOutcome) => void)[] = []
  let open = true
  let asked = 0
  let complaint = ''
  let answer: Buffer[] = []
  let size = 0
  let tail: Buffer = Buffer.alloc(0)
  const clock = setInterval(() => {
    const idle = performance.now() - since
    if (waiting.length === 0) return idle < IDLE_TIME ? undefined : void close()
    const used = processStatus(child.pid ?? 0)?.processorSeconds ?? 0
    if (since !== seen.since) seen = { since, used }
    if (used - seen.used > PROCESSOR_LIMIT) {
      fail(new GitLimit(`git needs more than ${PROCESSOR_LIMIT} s of processor time to count what changed`))
    } else if (idle > PATIENCE) fail(new GitFailure('git diff-tree: no answer'))
  }, TURN).unref()
  /** When the process began to work on the first question in line, or when it became idle. */
  let since = performance.now()
  /** The first question in line at the last check, and the processor time that the process had used before it. */
  let seen = { since: 0, used: 0 }

  /** Reports the failure to the first question in line. The other questions get `lost` when the process ends and may be repeated. */
  function fail(error: GitFailure): void {
    open = false
    waiting.shift()?.({ failed: error })
    child.kill('SIGKILL')
  }

  function take(chunk: Buffer): void {
    answer.push(chunk)
    size += chunk.length
    // The mark may be split between two chunks.
    const border = Buffer.concat([tail, chunk.subarray(0, mark.length)])
    tail = Buffer.concat([tail, chunk.subarray(-mark.length)]).subarray(-mark.length)
    if (border.includes(mark) || chunk.includes(mark)) cut(Buffer.concat(answer))
    else if (size > MAX_ANSWER[kind]) {
      fail(new LargeAnswer(`git diff-tree: more than ${MAX_ANSWER[kind]} bytes of output`))
    }
  }

  function cut(text: Buffer): void {
    let rest = text
    for (let at = rest.indexOf(mark); at !== -1; at = rest.indexOf(mark)) {
      waiting.shift()?.({ answer: rest.subarray(0, at) })
      rest = rest.subarray(at + mark.length)
    }
    answer = [rest]
    size = rest.length
    tail = rest.subarray(-mark.length)
    since = performance.now()
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
      if (asked === LIFETIME) void close()
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
    child.once('close', (code: number | null, signal: NodeJS.Signals | null) => {
      open = false
      clearInterval(clock)
      // With an exit code, git refused the first question in line. At a limit, that question is also the cause. After
      // any other signal, no question is the cause.
      const error = failure(args, { code, signal }, complaint, { kind: LIMITS[kind] })
      if (code || error instanceof GitLimit) waiting.shift()?.({ failed: error })
      for (const settle of waiting.splice(0)) settle({ lost: true })
      gone()
      resolve()
    })
  })
  keepAlive(child, false)
  return { ask, isOpen: () => open, pending: () => waiting.length, close }
}
