// Questions about history take milliseconds in usual repositories. But anybody can push one where git looks for minutes: two commits
// with 60,000 parents each have so many common ancestors. A question that takes longer than a moment is asked again where one
// at a time runs, so that such questions never hold the slots of others.
import { Unavailable } from '../../errors.js'
import { Limiter } from '../../lib/limiter.js'
import { lruOf } from '../../lib/lru.js'
import { GitLimit, runGit } from './run.js'

/** Seconds of processor time for the first try. The history of 80,000 commits takes one without a commit graph. */
const MOMENT = 2
/** The same for the second one. */
const LONG = 30
/** Seconds for each of them, whatever else the machine does. */
const TIME = 60
/** Milliseconds for which a question that reached a limit is not asked again: it would reach it each time. */
const REFUSED_MS = 600_000

const refused = lruOf<string, GitLimit>(1000, { ttl: REFUSED_MS })

/** Runs git to its end and returns its stdout. Throws GitFailure; GitLimit when it takes too long; Unavailable when others do. */
export async function askGit(repository: string, args: string[], processor = LONG): Promise<Buffer> {
  const question = `${repository}\0${args.join('\0')}`
  const known = refused.get(question)
  if (known) throw known
  try {
    return await runGit(args, { repository, timeout: TIME, processor: MOMENT })
  } catch (error) {
    if (!(error instanceof GitLimit) || !error.isOfTime) throw error
  }
  // It has a slot like a clone's: those of short questions stay free.
  return await oneAtATime(repository, question, () =>
    runGit(args, { repository, timeout: TIME, processor, long: true })
  )
}

/** The repository of the question that runs or ran last. */
let last = ''

const turns = new Limiter({
  capacity: 1,
  // Another repository comes first, so that a line of questions about one does not delay the others.
  order: (a, b) => Number(a.client === last) - Number(b.client === last),
  patience: {
    milliseconds: 20_000,
    over: () => new Unavailable('git looks for what takes long in other histories', 10)
  }
})

/**
 * Runs `work` when no other long question runs. `question` names it. Throws Unavailable when its turn does not come, and GitLimit at
 * once when it has thrown that before.
 */
export async function oneAtATime<T>(repository: string, question: string, work: () => Promise<T>): Promise<T> {
  const known = refused.get(question)
  if (known) throw known
  return turns.run({ client: repository }, async () => {
    last = repository
    try {
      return await work()
    } catch (error) {
      if (error instanceof GitLimit) refused.set(question, error)
      throw error
    }
  })
}
