// Starts `git receive-pack`: for a push that has arrived completely, or for one that arrives so fast that git can
// already work on it. Such a head start is ended when another request needs its slot, or when the client becomes slow:
// then git starts again when the whole push has arrived. Thus a client that stalls occupies no slot.
import type { Readable } from 'node:stream'
import { TooLarge } from '../../errors.js'
import { pushProcessorLimit } from '../process/limits.js'
import { type EarlyGit, feed, type GitProcess, startEarlyGit, startGit } from '../process/run.js'
import { refValue, ZERO } from '../refs/refs.js'
import { keepingHistory } from './fast-forward-only.js'
import type { Spool } from './spool.js'

/** A git process that works on a push. */
export interface Receiver {
  readonly git: GitProcess
  /** Ends git, because its client has disconnected. */
  readonly stop: () => void
  /** The reason when the appliance, not git, refuses the push. The client then gets this reason instead of git's message. */
  readonly reason: () => string | undefined
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
  const { client, signal, size, commands, kept = [] } = options
  const processor = size === undefined ? undefined : pushProcessorLimit(size)
  const git = await startGit([...ARGS, repository], {
    repository,
    long: true,
    client,
    signal,
    processor,
    environment: keepingHistory(commands, kept)
  })
  const stop = stopper(git)
  let reason: string | undefined
  void feed(input(), git, error => {
    if (error instanceof TooLarge) reason = error.message
    stop()
  })
  return { git, stop, reason: () => reason }
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
    const { spool, commands, client, kept = [], admit, look = LOOK } = push
    // There is a pack only when a ref is set to a value.
    if (commands.every(command => command.new === ZERO)) return
    if (!(await spool.reaches(EARLY_FROM)) || spool.isComplete() || dropped) return
    const environment = keepingHistory(commands, kept)
    const git = await startEarlyGit([...ARGS, repository], {
      repository,
      long: true,
      client,
      environment,
      giveUp: drop
    })
    if (!git) return
    early = feedEarly(git, { spool, look, giveUp: drop, admitted: admit() })
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
}

function feedEarly(git: EarlyGit, { spool, look, giveUp, admitted }: Feeding): EarlyReceiver {
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
  admitted.then(() => feed(input, git, giveUp), giveUp)
  return {
    git,
    stop,
    admitted,
    reason: () => undefined,
    finish: seconds => {
      clearInterval(clock)
      git.keep()
      void git.limitProcessor(seconds)
    }
  }
}
