// Counts what this process changes and runners that ask must see at once, not only with their next look at the queue.
import { afterCommit } from '../../db/transact.js'
import { madePending } from '../pipelines/wake-runners.js'

let changed = 0

/** A runner was changed, or what it serves. Call it in the transaction. */
export const noteRunnerChange = (): void =>
  afterCommit(() => {
    changed += 1
  })

/** How many changes of runners, and of builds that wait for one, this process has made so far. */
export const changesOfRunners = (): number => changed + madePending()
