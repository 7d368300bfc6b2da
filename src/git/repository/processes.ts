// Ends all kinds of long-lived git processes of this program together.

import { forgetGraph } from '../history/commit-graph.js'
import { closeDiffs } from '../history/diffs.js'
import { forgetStored } from '../objects/odb/stored.js'
import { closeReaders } from '../objects/reader.js'
import { endRunning } from '../process/running.js'
import { closeStarter } from '../process/starter/starter.js'
import { forgetRefs } from '../refs/list.js'
import { closeRefWriters } from '../refs/writer.js'
import { forgetAnswers } from '../transport/clone-answers.js'

export { startBySmallProgram } from '../process/starter/starter.js'

/**
 * Ends the processes of one repository, or of all repositories, after they have answered all pending questions. Waits
 * until they are gone.
 */
export async function closeGitProcesses(repository?: string): Promise<void> {
  if (repository === undefined) forgetAnswers()
  await Promise.all([closeDiffs(repository), closeRefWriters(repository)])
  await closeReaders(repository)
  if (repository === undefined) closeStarter()
}

/** Forgets what this process knows about all repositories, because other machines may have changed some of them. */
export async function forgetRepositories(): Promise<void> {
  forgetAnswers()
  forgetStored()
  forgetRefs()
  forgetGraph()
  await Promise.all([closeDiffs(), closeRefWriters()])
  await closeReaders()
}

/** Ends the processes of all repositories below a folder at once. */
export const endGitProcesses = endRunning
