// Sends the change of a commit as git prints it, whatever its size.
import type { Readable } from 'node:stream'
import { pacedStream } from '../../lib/paced-stream.js'
import { isObjectId } from '../objects/reader.js'
import { outputOf, startGit } from '../process/run.js'

/** Seconds of processor time, and of elapsed time. */
const PROCESSOR = 30
const TIME = 120
/** Milliseconds after which the process ends when its reader takes nothing. */
const PATIENCE = 60_000

interface DiffReader {
  /** In the format that `git am` reads. */
  readonly isMail: boolean
  /** Whose request it is: a client has a limited share of the processes. */
  readonly client: string
}

/** Returns the change of an existing commit, compared with its first parent. */
export async function openCommitDiff(
  repository: string,
  id: string,
  { isMail, client }: DiffReader
): Promise<Readable> {
  if (!isObjectId(id)) throw new TypeError('not a commit')
  const format = isMail ? ['--format=email', '--stat'] : ['--format=']
  const args = [
    '-c',
    'core.quotePath=false',
    'log',
    '-1',
    '-p',
    '--first-parent',
    '-m',
    '--root',
    '--no-ext-diff',
    '--no-textconv'
  ]
  const all = [...args, ...format, '--end-of-options', id, '--']
  const git = await startGit(all, { repository, timeout: TIME, processor: PROCESSOR, long: true, client })
  git.stdin.end()
  return pacedStream(outputOf(all, git), PATIENCE)
}
