// Ends all kinds of long-lived git processes of this program together.

import { closeDiffs } from '../history/diffs.js'
import { closeReaders } from '../objects/reader.js'
import { closeStarter } from '../process/starter/starter.js'
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
