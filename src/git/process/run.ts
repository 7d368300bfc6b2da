// The only place that starts git: with argument arrays, a clean environment, its own process group, and limits on time,
// output and the number of processes that run at the same time.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable, type Writable } from 'node:stream'
import type { SimpleGit } from 'simple-git'
import { config } from '../../config.js'
import { gitEnvironment } from './environment.js'
import { type GitKind, isOutOfTime, limited, limitReached } from './limits.js'
import { noteRunning } from './running.js'
import { takeEarlySlot, takeSlot } from './slots.js'
import { type Spawned, signalGroup } from './starter/started.js'
import { startElsewhere } from './starter/starter.js'

export type GitInput = Buffer | string | AsyncIterable<Buffer>

export interface StartOptions {
  /** Becomes GIT_DIR. The process counts towards the limit of this repository. */
  readonly repository?: string
  /** A work tree to run in. `repository` then only counts towards the limit. */
  readonly cwd?: string
  /** Time limit in seconds; the default comes from the configuration. */
  readonly timeout?: number
  readonly signal?: AbortSignal
  readonly environment?: Record<string, string>
  /** Chooses the limits on memory and processor time; the default is `work`. */
  readonly kind?: GitKind
  /** Set for a process that lasts as long as its client needs. */
  readonly long?: boolean
  /** The client that a long process works for. */
  readonly client?: string
  /** Seconds of processor time. The default, which is also the maximum, comes from the configuration. */
  readonly processor?: number
}

export interface RunOptions extends StartOptions {
  readonly input?: GitInput
  /** Maximum bytes of stdout. A process that writes more is ended. */
  readonly maxOutput?: number
}

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly ended?: 'timeout' | 'killed' | 'away'
}

export interface GitProcess {
  readonly pid: number | undefined
  readonly stdin: Writable
  readonly stdout: Readable
  /** Returns the first 16 KiB of stderr that have arrived so far. */
  readonly stderr: () => string
  /** Calls `hear` with everything that arrives on stderr from now on. */
  readonly onStderr: (hear: (text: Buffer) => void) => void
  /** Settles when the process is gone; never rejects. */
  readonly done: Promise<Exit>
  /** Ends the process and all its children. */
  readonly kill: () => void
  /** Limits the processor time, in seconds, of the process and its children, which are already running. */
  readonly limitProcessor: (seconds: number) => Promise<void>
}

/** A process that may be ended at any time to make room for others, until `keep` is called. */
export interface EarlyGit extends GitProcess {
  readonly keep: () => void
}

/** Git failed, was ended, or wrote too much. `code` is null when a signal or a limit ended it. */
export class GitFailure extends Error {
  override name = 'GitFailure'

  constructor(
    text: string,
    readonly code: number | null = null,
    readonly stderr = ''
  ) {
    super(text)
  }
}

/** The objects that git reads, or the data that a client sent, need more than a git process may use. */
export class GitLimit extends GitFailure {
  override name = 'GitLimit'

  constructor(
    text: string,
    stderr = '',
    /** True for the limit of processor time. */
    readonly isOfTime = false
  ) {
    super(text, null, stderr)
  }
}

/** Git did not end in time, perhaps only because the machine is busy. */
export class GitTimeout extends GitFailure {
  override name = 'GitTimeout'
}

/** Git was ended because this machine no longer owns the storage of the repository. */
export class GitAway extends GitFailure {
  override name = 'GitAway'
  /** The reason that a client gets. */
  static readonly reason = 'this machine does not serve the storage any more'
}

const STDERR_LIMIT = 16 * 1024
const DEFAULT_MAX_OUTPUT = 64 * 1024 * 1024
// Milliseconds after SIGTERM. Git uses them to remove its lock files and half-written objects; then SIGKILL follows.
const PATIENCE = 3000

export type { Spawned } from './starter/started.js'

/**
 * Starts git without a slot. Only the long-lived processes use it, because their pools have separate limits. Throws
 * GitFailure when git cannot be started.
 */
export async function spawnGit(args: string[], options: StartOptions): Promise<Spawned> {
  const [program, all] = limited(args, options.kind ?? 'work', options.processor)
  const { cwd, repository, environment } = options
  const env = gitEnvironment(cwd === undefined ? repository : undefined, environment)
  try {
    return await startProgram(program, all, { cwd: cwd ?? '/', env })
  } catch (error) {
    throw new GitFailure(`git cannot be started: ${error instanceof Error ? error.message : error}`)
  }
}

async function startProgram(
  program: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Record<string, string> }
): Promise<Spawned> {
  const started = await startElsewhere({ program, args, cwd, env })
  if (started) return started
  const child = spawn(program, [...args], { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.on('error', () => {}) // the process may end before it has read everything; its exit code shows why
  await once(child, 'spawn')
  return child
}

/** Starts git when a slot is free. Throws Unavailable when too many callers wait, and GitFailure when git cannot be started. */
export async function startGit(args: string[], options: StartOptions = {}): Promise<GitProcess> {
  return await startIn(await takeSlot(options), args, options)
}

/**
 * Starts git in a slot that is free now and that nobody waits for. Returns null when there is no such slot. It calls
 * `giveUp` as soon as another request waits for the slot: the caller then ends the process.
 */
export async function startEarlyGit(
  args: string[],
  options: StartOptions & { readonly giveUp: () => void }
): Promise<EarlyGit | null> {
  const slot = takeEarlySlot(options)
  return slot && { ...(await startIn(slot.release, args, options)), keep: slot.keep }
}

async function startIn(release: () => void, args: string[], options: StartOptions): Promise<GitProcess> {
  try {
    const child = await spawnGit(args, options)
    return supervise(child, options, release)
  } catch (error) {
    release()
    throw error
  }
}

function supervise(child: Spawned, options: StartOptions, release: () => void): GitProcess {
  let ended: Exit['ended']
  let last: NodeJS.Timeout | undefined
  const end = (why: NonNullable<Exit['ended']>) => {
    if (ended !== undefined || child.exitCode !== null || child.signalCode !== null) return
    ended = why
    signalGroup(child, 'SIGTERM')
    last = setTimeout(() => signalGroup(child, 'SIGKILL'), PATIENCE)
  }
  const kill = () => end('killed')
  const forgetRunning = noteRunning(options.repository ?? options.cwd, () => end('away'))
  const limit = setTimeout(() => end('timeout'), (options.timeout ?? config().git.timeout) * 1000)
  options.signal?.addEventListener('abort', kill, { once: true })
  if (options.signal?.aborted) kill()
  const done = new Promise<Exit>(resolve => {
    child.once('exit', (code, signal) => {
      clearTimeout(limit)
      clearTimeout(last)
      options.signal?.removeEventListener('abort', kill)
      forgetRunning()
      if (code === null || ended) signalGroup(child, 'SIGKILL') // ends children that outlived their parent
      release()
      const exit = { code, signal, ...(ended && { ended }) }
      // The words of a failure arrive on a stream of their own, perhaps after the news of the exit.
      if (code === 0 && !ended) resolve(exit)
      else whenEnded(child.stderr, () => resolve(exit))
    })
  })
  const limitProcessor = (seconds: number) => limitRunning(child.pid, seconds)
  const { pid, stdin, stdout } = child
  const onStderr: GitProcess['onStderr'] = hear => void child.stderr.on('data', hear)
  return { pid, stdin, stdout, stderr: keepStart(child.stderr), onStderr, done, kill, limitProcessor }
}

/** Milliseconds for which the rest of stderr is awaited after the exit: a child that outlives its parent may keep it open. */
const LAST_WORDS = 1000

function whenEnded(stream: Readable, then: () => void): void {
  if (stream.readableEnded || stream.closed) {
    then()
    return
  }
  const clock = setTimeout(then, LAST_WORDS)
  stream.once('close', () => {
    clearTimeout(clock)
    then()
  })
}

// The process comes first: children that it starts from then on already have the new limit. One shell handles all of
// them, because each start of a program blocks this process for some milliseconds.
const LIMIT_RUNNING = `prlimit --cpu="$1": --pid "$2"
for child in $(cat "/proc/$2/task/$2/children"); do prlimit --cpu="$1": --pid "$child"; done`

async function limitRunning(pid: number | undefined, seconds: number): Promise<void> {
  if (pid === undefined) return
  const args = ['-c', LIMIT_RUNNING, 'sh', String(seconds), String(pid)]
  const child = await startProgram('/bin/sh', args, { cwd: '/', env: gitEnvironment() })
  child.stdout.resume()
  child.stderr.resume()
  // Fails when the processes have ended before.
  await once(child, 'close').catch(() => {})
}

function keepStart(stream: Readable): () => string {
  let kept = Buffer.alloc(0)
  stream.on('data', (chunk: Buffer) => {
    if (kept.length < STDERR_LIMIT) kept = Buffer.concat([kept, chunk.subarray(0, STDERR_LIMIT - kept.length)])
  })
  return () => kept.toString()
}

/** Runs git until it ends and returns its stdout. Throws GitFailure when git fails, takes too long or writes too much. */
export async function runGit(args: string[], options: RunOptions = {}): Promise<Buffer> {
  const git = await startGit(args, options)
  const fed = feed(options.input ?? '', git)
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of git.stdout as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > (options.maxOutput ?? DEFAULT_MAX_OUTPUT)) break
    chunks.push(chunk)
  }
  const tooMuch = size > (options.maxOutput ?? DEFAULT_MAX_OUTPUT)
  if (tooMuch) git.kill()
  const exit = await git.done
  await fed
  if (tooMuch)
    throw new GitFailure(`git ${args[0]}: more than ${options.maxOutput ?? DEFAULT_MAX_OUTPUT} bytes of output`)
  if (exit.code !== 0 || exit.ended) throw failure(args, exit, git.stderr(), options)
  return Buffer.concat(chunks, size)
}

/** Returns the error for an exit that was not successful: GitLimit when git had reached a limit. */
export function failure(
  args: string[],
  exit: Exit,
  stderr: string,
  options: Pick<StartOptions, 'kind' | 'processor'> = {}
): GitFailure {
  const { kind = 'work', processor } = options
  const limit = exit.ended ? undefined : limitReached(exit.signal, stderr, kind, processor)
  if (limit !== undefined) return new GitLimit(limit, stderr, isOutOfTime(exit.signal, stderr))
  const how = exit.ended ?? (exit.code === null ? `signal ${exit.signal}` : `exit ${exit.code}`)
  const text = `git ${args[0]}: ${how}: ${stderr.trim().slice(0, 500)}`
  if (exit.ended === 'timeout') return new GitTimeout(text, null, stderr)
  if (exit.ended === 'away') return new GitAway(text, null, stderr)
  return new GitFailure(text, exit.ended ? null : exit.code, stderr)
}

/**
 * Writes the whole input and closes stdin. When the input is cut off, it ends the process instead (or calls `cut`), so that git
 * never treats the beginning as the whole. It never rejects. It reads all of the input even when git stops reading.
 */
export async function feed(input: GitInput, git: GitProcess, cut: (error: unknown) => void = git.kill): Promise<void> {
  const { stdin } = git
  if (typeof input === 'string' || Buffer.isBuffer(input)) {
    stdin.end(input)
    return
  }
  try {
    for await (const chunk of input) {
      if (!stdin.writable || stdin.write(chunk)) continue
      await drained(stdin)
    }
    stdin.end()
  } catch (error) {
    cut(error)
  }
}

function drained(stdin: Writable): Promise<void> {
  return new Promise(resolve => {
    const go = () => {
      stdin.off('drain', go).off('close', go)
      resolve()
    }
    stdin.on('drain', go).on('close', go)
  })
}

/**
 * Returns the stdout of a process as a separate stream. Destroying the stream ends the process. The stream fails when
 * the process was killed or its exit code is not 0.
 */
export function outputOf(args: string[], git: GitProcess): Readable {
  const { stdout } = git
  const stream = new Readable({
    highWaterMark: 256 * 1024,
    read: () => stdout.resume(),
    destroy: (error, callback) => {
      git.kill()
      stdout.destroy()
      callback(error)
    }
  })
  stdout.on('data', chunk => {
    if (!stream.push(chunk)) stdout.pause()
  })
  stdout.once('error', error => stream.destroy(error))
  stream.on('error', () => {}) // the reader gets the error, but there may be no reader left
  stdout.once('end', async () => {
    const exit = await git.done
    if (exit.ended || exit.code !== 0) stream.destroy(failure(args, exit, git.stderr()))
    else stream.push(null)
  })
  return stream
}

/** Runs `work` with simple-git in a folder, with the same environment and time limit. Use it for rare operations on a whole repository. */
export async function withSimpleGit<T>(folder: string, work: (git: SimpleGit) => Promise<T>): Promise<T> {
  const environment = gitEnvironment()
  const { simpleGit } = await import('simple-git')
  const release = await takeSlot({ repository: folder })
  try {
    const git = simpleGit({
      baseDir: folder,
      binary: 'git',
      maxConcurrentProcesses: 1,
      timeout: { block: config().git.timeout * 1000, stdOut: false, stdErr: false },
      allowEnvironment: Object.keys(environment),
      unsafe: {
        allowUnsafeConfigEnvCount: true,
        allowUnsafeConfigPaths: true,
        allowUnsafeTemplateDir: true,
        allowUnsafeHooksPath: true
      }
    }).env(environment)
    return await work(git)
  } finally {
    release()
  }
}
