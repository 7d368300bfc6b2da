// Questions about history take milliseconds in usual repositories. But anybody can push a history that keeps git busy
// for minutes: two commits with 60,000 parents each have that many common ancestors. A question that takes longer than
// a moment is repeated in a queue that runs one at a time, so that such questions never occupy the slots of others.
import { Unavailable } from '../../errors.js'
import { Limiter } from '../../lib/limiter.js'
import { lruOf } from '../../lib/lru.js'
import { GitLimit, runGit } from './run.js'

/** The processor time in seconds for the first try. The history of 80,000 commits takes one second without a commit-graph. */
const MOMENT = 2
/** The processor time in seconds for the second try. */
const LONG = 30
/** The elapsed time in seconds for each try, whatever else the machine does. */
const TIME = 60
/** Milliseconds for which a question that reached a limit is not repeated: it would reach the limit each time. */
const REFUSED_MS = 600_000

const refused = lruOf<string, GitLimit>(1000, { ttl: REFUSED_MS })

/**
 * Runs git until it ends and returns its stdout. Throws GitFailure, GitLimit when it takes too long, and Unavailable
 * when other questions take too long.
 */
export async function askGit(repository: string, args: string[], processor = LONG): Promise<Buffer> {
  const question = `${repository}\0${args.join('\0')}`
  const known = refused.get(question)
  if (known) throw known
  try {
    return await runGit(args, { repository, timeout: TIME, processor: MOMENT })
  } catch (error) {
    if (!(error instanceof GitLimit) || !error.isOfTime) throw error
  }
  // This uses a slot for long processes, like a clone, so that the slots for short questions stay free.
  return await oneAtATime(repository, question, () =>
    runGit(args, { repository, timeout: TIME, processor, long: true })
  )
}

/** The repository of the question that is running or ran last. */
let last = ''

const turns = new Limiter({
  capacity: 1,
  // Other repositories come first, so that many questions about one repository do not delay them.
  order: (a, b) => Number(a.client === last) - Number(b.client === last),
  patience: {
    milliseconds: 20_000,
    over: () => new Unavailable('git is busy with slow questions about other repositories', 10)
  }
})

/**
 * Runs `work` when no other long question runs. `question` identifies it. Throws Unavailable when its turn does not
 * come in time, and GitLimit immediately when the same question reached a limit before.
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
