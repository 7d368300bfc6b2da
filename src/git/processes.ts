// Ends all kinds of long-lived git processes of this program together.
import { forgetAnswers } from './clone-answers.js'
import { closeDiffs } from './diffs.js'
import { closeReaders } from './reader.js'
import { closeRefWriters } from './ref-writer.js'
import { closeStarter } from './starter/starter.js'

export { startBySmallProgram } from './starter/starter.js'

/**
 * Ends the processes of one repository, or of all, after they have answered what they were asked. Waits until they are
 * gone.
 */
export async function closeGitProcesses(repository?: string): Promise<void> {
  if (repository === undefined) forgetAnswers()
  await Promise.all([closeDiffs(repository), closeRefWriters(repository)])
  await closeReaders(repository)
  if (repository === undefined) closeStarter()
}
