// The long-lived git processes of this program, together.
import { closeDiffs } from './diffs.js'
import { closeReaders } from './reader.js'
import { closeRefWriters } from './ref-writer.js'

/** Ends those of one repository or all, after what they were asked, and waits until they have gone. */
export async function closeGitProcesses(repository?: string): Promise<void> {
  await Promise.all([closeDiffs(repository), closeRefWriters(repository)])
  await closeReaders(repository)
}
