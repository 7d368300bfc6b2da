// The composition root: one table of the parts that areas plug into each other. The server, the worker, commands and tests all
// call compose(), so that a change has the same effects in each of them. The code does not compile while a plug is unfilled.

import type { preparedPushes } from './areas/code/refs/ref-changes.js'
import type { handledAtOnce, PublishedEvent, transactionListeners } from './areas/ground/activity/events.js'
import type { passwordSource } from './areas/people/credentials/password-sign-in.js'
import type { deferredCommands } from './areas/planning/discussion/commands/deferred.js'
import type { moveSteps } from './areas/planning/issues/move.js'
import type { descriptionReader } from './areas/planning/participation/descriptions.js'
import type { waitingBuilds } from './areas/projects/projects/project-update.js'
import type { recipientFacts } from './areas/reach/mail/recipient-facts.js'
import type { archiveShelf } from './git/repository/archive-cache.js'
import { fillPlugs } from './lib/plug.js'
import type { deadJobs } from './queue/failures.js'
import type { traceRows } from './storage/traces.js'

/** Only their types: a command that reads loads none of these areas. */
interface Plugs {
  readonly passwordSource: typeof passwordSource
  readonly transactionListeners: typeof transactionListeners
  readonly handledAtOnce: typeof handledAtOnce
  readonly preparedPushes: typeof preparedPushes
  readonly descriptionReader: typeof descriptionReader
  readonly moveSteps: typeof moveSteps
  readonly deferredCommands: typeof deferredCommands
  readonly recipientFacts: typeof recipientFacts
  readonly waitingBuilds: typeof waitingBuilds
  readonly traceRows: typeof traceRows
  readonly archiveShelf: typeof archiveShelf
  readonly deadJobs: typeof deadJobs
}

/** Each part is loaded on first use: all of them take 0.5 s of processor time, and most commands use none. */
const parts: { readonly [Name in keyof Plugs]: Plugs[Name] } = {
  passwordSource: async () => (await import('./areas/people/identity/ldap/sign-in.js')).directoryPasswords,
  transactionListeners: async () => {
    const [{ todoChanges }, { failedBuildTodos }] = await Promise.all([
      import('./areas/reach/todos/in-transaction.js'),
      import('./areas/reach/todos/failed-builds.js')
    ])
    return [failedBuildTodos, todoChanges]
  },
  handledAtOnce: async () => (await import('./at-once.js')).handleAtOnce,
  preparedPushes: async () => (await import('./areas/reach/notifications/quiet-pushes.js')).prepareQuietPush,
  descriptionReader: async () => (await import('./areas/planning/discussion/commands/descriptions.js')).readDescription,
  moveSteps: async () => (await import('./areas/planning/discussion/move-discussion.js')).discussionMoves,
  deferredCommands: async () => (await import('./areas/reach/todos/commands.js')).todoCommands,
  recipientFacts: async () => (await import('./areas/reach/accounts/links.js')).accountLinks,
  waitingBuilds: async () => (await import('./areas/ci/runners/wake-ups.js')).wakeForProject,
  traceRows: async () => (await import('./areas/ci/builds/files/trace-rows.js')).traceRowsOfBuilds,
  archiveShelf: async () => (await import('./areas/code/archives/archive-shelf.js')).bucketShelf,
  deadJobs: async () => ({ 'migration.work': (await import('./areas/migrate/migrations/work.js')).endDead })
}

/** Passes a published event to all listeners. Throws if one of them fails: the job then runs again. */
export async function handleEvent(published: PublishedEvent): Promise<void> {
  const [{ notifyListeners }, { listeners }] = await Promise.all([
    import('./areas/ground/activity/listeners.js'),
    import('./listeners.js')
  ])
  await notifyListeners(listeners, published)
}

/** Fills all plugs of this process. A second call changes nothing. */
export const compose = (): void => fillPlugs({ ...parts })
