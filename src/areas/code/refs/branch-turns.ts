// Changes of one branch by the API take turns: of changes that start from the same commit, git accepts only one. Pushes and
// other servers take no turns here, so a change that comes too late starts again from the new commit.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Origin, requireAsker } from '../../../access/actor.js'
import { Unavailable } from '../../../errors.js'
import { RefMoved } from '../../../git/refs/refs.js'
import { Limiter, type LimiterRequest } from '../../../lib/limiter.js'
import { requestScope } from '../../../lib/request-scope.js'

/**
 * How often others may move the branch during one turn. While 12 clients of another server commit without a pause, a change
 * succeeds in about one of six tries: with 30 tries, one of 240 commits was refused.
 */
const TRIES = 100
/** Milliseconds between two tries, at random, so that the turns of several servers come apart. */
const LONGEST_REST = 10
/** Milliseconds after which a change does not start again. The others wait for it, and their patience is twice as long. */
const LONGEST_TURN = 30_000
const MOST_WAITING = 1000
const MOST_OF_USER = 200
const PATIENCE = 60_000

/** The changes of one user that wait for any branch. */
const places = new Limiter({
  // The last half of the free places is for others, so that a few users cannot take all of them.
  perClient: () => Math.min(MOST_OF_USER, Math.ceil((MOST_WAITING - turns.queued) / 2)),
  queue: { capacity: 0, full: () => new Unavailable('Too many of your changes of branches are already waiting') }
})

interface Turn extends LimiterRequest {
  readonly branch: string
}

const turns = new Limiter<Turn>({
  quotas: ({ branch }) => [[branch, 1]],
  queue: {
    capacity: MOST_WAITING,
    full: () => new Unavailable(`${MOST_WAITING} changes of branches are already waiting`)
  },
  patience: {
    milliseconds: PATIENCE,
    over: () => new Unavailable('Other changes of this branch take too long')
  }
})

/**
 * Runs a change of a branch when no other request changes it. Users take turns. The change may call `moved` as soon as the
 * branch has moved: then the next change begins. Whenever it throws RefMoved, it runs again, until its time is over or its
 * client has left. Throws Unavailable then, and when too many changes wait or the branch moves too often.
 */
export async function changeBranch<Result>(
  project: { readonly id: number },
  branch: string,
  origin: Origin,
  change: (moved: () => void) => Promise<Result>
): Promise<Result> {
  const key = `${project.id} ${branch}`
  const user = String(requireAsker(origin).id)
  const signal = signalOfClient()
  // A user may wait for several branches.
  const turn: Turn = { branch: key, client: `${user} ${key}`, ...(signal && { signal }) }
  const moved = turns.tryAcquire(turn) ?? (await places.run({ client: user }, () => turns.acquire(turn)))
  try {
    return await untilStill(() => change(moved), signal)
  } finally {
    moved()
  }
}

/** Returns a signal that aborts when the client of the current request leaves. Undefined outside of requests. */
function signalOfClient(): AbortSignal | undefined {
  const atEnd = requestScope.getStore()?.atEnd
  if (!atEnd) return undefined
  const leaving = new AbortController()
  atEnd(() => leaving.abort(new Unavailable('The client has left')))
  return leaving.signal
}

async function untilStill<Result>(change: () => Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  const since = performance.now()
  for (let tries = 1; ; tries++) {
    try {
      return await change()
    } catch (error) {
      if (!(error instanceof RefMoved)) throw error
      const isOver = tries === TRIES || performance.now() - since > LONGEST_TURN
      if (isOver) throw new Unavailable('The branch changes too often')
    }
    await sleep(Math.random() * LONGEST_REST)
    signal?.throwIfAborted()
  }
}
