// Counts changes by this process that polling runners must see at once, not only at their next look at the queue.
import { afterCommit } from '../../../db/connect/transact.js'
import { madePending } from '../pipelines/wake-runners.js'

let changed = 0

/** A runner changed, or the projects that it serves. Call it in the transaction. */
export const noteRunnerChange = (): void =>
  afterCommit(() => {
    changed += 1
  })

/** Returns the number of changes of runners, and of builds that wait for one, in this process. */
export const changesOfRunners = (): number => changed + madePending()
