// Starts `git receive-pack`: for a push that has arrived completely, or for one that arrives so fast that git can
// already work on it. Such a head start is ended when another request needs its slot, or when the client becomes slow:
// then git starts again when the whole push has arrived. Thus a client that stalls occupies no slot.
import type { Readable } from 'node:stream'
import { TooLarge } from '../../errors.js'
import { pushProcessorLimit } from '../process/limits.js'
import { type EarlyGit, feed, type GitProcess, startEarlyGit, startGit } from '../process/run.js'
import { refValue, ZERO } from '../refs/refs.js'
import { keepingHistory } from './fast-forward-only.js'
import { type FirstPush, prepareFirstPush } from './first-push.js'
import type { Spool } from './spool.js'

/** A git process that works on a push. */
export interface Receiver {
  readonly git: GitProcess
  /** Ends git, because its client has disconnected. */
  readonly stop: () => void
  /** The reason when the appliance, not git, refuses the push. The client then gets this reason instead of git's message. */
  readonly reason: () => string | undefined
  /** Set when git only checks the pack of a first push. */
  readonly first?: FirstPush | null
}

export interface ReceiveOptions {
  /** The client that git works for, a user or an address: the clients share the slots. */
  readonly client?: string
  readonly signal?: AbortSignal
  /** The size of the whole push in bytes: a small push gets less processor time. */
  readonly size?: number
  readonly commands: EarlyPush['commands']
  /** Branches that git must not rewrite. */
  readonly kept?: readonly string[]
  /** Set for a push that may be a first one. */
  readonly pack?: PackOfPush
}

export interface PackOfPush {
  /** Where the pack begins in the input. */
  readonly packAt: number
  readonly capabilities: readonly string[]
}

const ARGS = ['receive-pack', '--stateless-rpc']
/** Milliseconds from the end of the input to a signal. */
const PATIENCE = 10_000

/** Starts git for a push. Throws Unavailable when too many callers wait. */
export async function startReceiver(
  repository: string,
  input: () => Readable,
  options: ReceiveOptions
): Promise<Receiver> {
  const { client, signal, size = 0, commands, kept = [], pack } = options
  const processor = options.size === undefined ? undefined : pushProcessorLimit(size)
  const first = size < EARLY_FROM ? null : await firstPush(repository, commands, pack)
  const { args, environment } = first ?? { args: [...ARGS, repository], environment: keepingHistory(commands, kept) }
  const git = await orDrop(
    first,
    startGit([...args], { repository, long: true, client, signal, processor, environment })
  )
  const stop = stopper(git)
  let reason: string | undefined
  void feed(first ? after(input(), pack?.packAt) : input(), git, error => {
    if (error instanceof TooLarge) reason = error.message
    stop()
  })
  return { git, stop, first, reason: () => reason }
}

async function firstPush(repository: string, commands: EarlyPush['commands'], pack?: PackOfPush) {
  return pack ? await prepareFirstPush(repository, { ...pack, commands }) : null
}

/** Removes the quarantine when git does not start. */
async function orDrop<T>(first: FirstPush | null, started: Promise<T>): Promise<T> {
  try {
    const git = await started
    if (git === null) await first?.drop()
    return git
  } catch (error) {
    await first?.drop()
    throw error
  }
}

/** Yields the input after its first bytes. */
export async function* after(input: Readable, skipped = 0): AsyncGenerator<Buffer> {
  let left = skipped
  for await (const chunk of input as AsyncIterable<Buffer>) {
    if (left < chunk.length) yield chunk.subarray(left)
    left = Math.max(0, left - chunk.length)
  }
}

/**
 * Returns a function that ends a push whose client has disconnected. It ends the input: an incomplete pack fails, and
 * git then removes its quarantine folder, which it would leave behind after a signal (since 2.39). It kills git only
 * when git is still running after PATIENCE.
 */
function stopper(git: GitProcess): () => void {
  let limit: NodeJS.Timeout | undefined
  let over = false
  void git.done.then(() => {
    over = true
    clearTimeout(limit)
  })
  return () => {
    if (over) return
    git.stdin.end()
    limit ??= setTimeout(git.kill, PATIENCE)
  }
}

/** The number of bytes after which git starts. A smaller push arrives before git could have done much. */
const EARLY_FROM = 512 * 1024
/**
 * The number of bytes that a client must send per second; otherwise git is ended. At a lower pace, git is so much
 * faster than the client that an early start gains less than a tenth.
 */
const PACE = 4 * 1024 * 1024
/** Milliseconds between two checks of the pace. */
const LOOK = 1000

export interface EarlyPush {
  readonly spool: Spool
  readonly commands: readonly { readonly old: string; readonly new: string; readonly ref: string }[]
  /** The client that git works for. */
  readonly client?: string
  /** Branches that git must not rewrite. */
  readonly kept?: readonly string[]
  /** Called before git gets any input: a pack may end before the request does, and then git changes the refs. */
  readonly admit: () => Promise<unknown>
  /** Set for a push that may be a first one. */
  readonly pack?: PackOfPush
  /** Milliseconds between two checks of the client's pace; the default is a second. */
  readonly look?: number
}

export interface HeadStart {
  /**
   * Hands over git, when the whole push has arrived or after `drop`. Returns null when git has not begun, or was ended
   * early and changed nothing: then the push may be passed to git again.
   */
  readonly take: () => Promise<Receiver | null>
  /** Ends git, because the push does not finish. */
  readonly drop: () => void
}

/** Starts git for a push that is still arriving, when a slot is free. */
export function giveHeadStart(repository: string, push: EarlyPush): HeadStart {
  let dropped = false
  let early: EarlyReceiver | null = null
  const drop = () => {
    dropped = true
    early?.stop()
  }
  const begun = begin().catch(drop)

  async function begin(): Promise<void> {
    const { spool, commands, client, kept = [], admit, pack, look = LOOK } = push
    // There is a pack only when a ref is set to a value.
    if (commands.every(command => command.new === ZERO)) return
    if (!(await spool.reaches(EARLY_FROM)) || spool.isComplete() || dropped) return
    const first = await firstPush(repository, commands, pack)
    const { args, environment } = first ?? { args: [...ARGS, repository], environment: keepingHistory(commands, kept) }
    const starting = startEarlyGit([...args], { repository, long: true, client, environment, giveUp: drop })
    const git = await orDrop(first, starting)
    if (!git) return
    early = feedEarly(git, { spool, look, giveUp: drop, admitted: admit(), first, packAt: first ? pack?.packAt : 0 })
    if (dropped) early.stop()
    await early.admitted
  }

  return {
    drop,
    take: async () => {
      await begun
      if (!early) return null
      if (!dropped) {
        early.finish(pushProcessorLimit(push.spool.size))
        return early
      }
      await early.git.done
      await early.first?.drop()
      return (await hasMoved(repository, push)) ? early : null
    }
  }
}

async function hasMoved(repository: string, { commands }: EarlyPush): Promise<boolean> {
  for (const { ref, old, new: next } of commands) {
    if (old !== next && ((await refValue(repository, ref)) ?? ZERO) === next) return true
  }
  return false
}

interface EarlyReceiver extends Receiver {
  readonly admitted: Promise<unknown>
  /** Declares that everything has arrived: from now on git is not ended for others, and its limit depends on the size of the push. */
  readonly finish: (seconds: number) => void
}

interface Feeding {
  readonly spool: Spool
  readonly look: number
  readonly giveUp: () => void
  readonly admitted: Promise<unknown>
  readonly first: FirstPush | null
  /** The number of bytes that git does not get. */
  readonly packAt?: number
}

function feedEarly(git: EarlyGit, { spool, look, giveUp, admitted, first, packAt }: Feeding): EarlyReceiver {
  const end = stopper(git)
  const input = spool.read()
  let before = spool.size
  const clock = setInterval(() => {
    if (spool.size - before < (PACE * look) / 1000) giveUp()
    before = spool.size
  }, look).unref()
  void git.done.then(() => clearInterval(clock))
  const stop = () => {
    clearInterval(clock)
    input.destroy()
    end()
  }
  admitted.then(() => feed(after(input, packAt), git, giveUp), giveUp)
  return {
    git,
    stop,
    admitted,
    first,
    reason: () => undefined,
    finish: seconds => {
      clearInterval(clock)
      git.keep()
      void git.limitProcessor(seconds)
    }
  }
}
