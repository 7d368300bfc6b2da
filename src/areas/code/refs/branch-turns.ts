// Changes of one branch by the API take turns: of changes that start from the same commit, git accepts only one. Pushes and
// other servers take no turns here, so a change that comes too late starts again from the new commit.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Origin, requireAsker } from '../../../access/actor.js'
import { Unavailable } from '../../../errors.js'
import { RefMoved } from '../../../git/refs/refs.js'
import { Limiter, type LimiterRequest } from '../../../lib/limiter.js'

/**
 * How often others may move the branch during one turn. While 12 clients of another server commit without a pause, a change
 * succeeds in about one of six tries: with 30 tries, one of 240 commits was refused.
 */
const TRIES = 100
/** Milliseconds between two tries, at random, so that the turns of several servers come apart. */
const LONGEST_REST = 10
const MOST_WAITING = 1000
const MOST_OF_USER = 200
const PATIENCE = 60_000

interface Turn extends LimiterRequest {
  readonly branch: string
}

const turns = new Limiter<Turn>({
  quotas: ({ branch }) => [[branch, 1]],
  queue: {
    capacity: MOST_WAITING,
    perClient: () => MOST_OF_USER - 1,
    full: limit =>
      new Unavailable(
        limit === 'perClient'
          ? `${MOST_OF_USER} of your changes of this branch are already waiting`
          : `${MOST_WAITING} changes of branches are already waiting`
      )
  },
  patience: {
    milliseconds: PATIENCE,
    over: () => new Unavailable('Other changes of this branch take too long')
  }
})

/**
 * Runs a change of a branch when no other request changes it. Users take turns. The change may call `moved` as soon as the
 * branch has moved: then the next change begins. Whenever it throws RefMoved, it runs again. Throws Unavailable when too many
 * changes wait, or when the branch moves too often.
 */
export async function changeBranch<Result>(
  project: { readonly id: number },
  branch: string,
  origin: Origin,
  change: (moved: () => void) => Promise<Result>
): Promise<Result> {
  const key = `${project.id} ${branch}`
  // A user may wait for several branches.
  const moved = await turns.acquire({ branch: key, client: `${requireAsker(origin).id} ${key}` })
  try {
    return await untilStill(() => change(moved))
  } finally {
    moved()
  }
}

async function untilStill<Result>(change: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await change()
    } catch (error) {
      if (!(error instanceof RefMoved)) throw error
      if (tries === TRIES) throw new Unavailable('The branch changes too often')
    }
    await sleep(Math.random() * LONGEST_REST)
  }
}
