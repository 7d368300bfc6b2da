// Packs the files of a commit with `git archive`.
import { access } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import type { Readable } from 'node:stream'
import { Unavailable } from '../../errors.js'
import { isObjectId } from '../objects/reader.js'
import { gitEnvironment } from '../process/environment.js'
import { type GitProcess, outputOf, startGit } from '../process/run.js'

const ARCHIVE_FORMATS = ['tar.gz', 'tar.bz2', 'tar', 'zip'] as const
export type ArchiveFormat = (typeof ARCHIVE_FORMATS)[number]

export interface ArchiveRequest {
  readonly repository: string
  /** The id of a commit that exists. */
  readonly commit: string
  readonly format: ArchiveFormat
  /** The folder in the archive that contains all files. */
  readonly prefix: string
  /** The client that git works for, a user or an address: the clients share the slots. */
  readonly client: string
}

/** Git packs the other formats itself. It passes this text to a shell, so no user input may be part of it. */
const BZIP2 = ['-c', 'tar.tar.bz2.command=bzip2 -c']

const argsOf = ({ commit, format, prefix }: ArchiveRequest) => [
  ...(format === 'tar.bz2' ? BZIP2 : []),
  'archive',
  `--format=${format}`,
  `--prefix=${prefix}/`,
  commit
]

/** Starts git. The same request produces the same bytes each time. Throws Unavailable when too many callers wait. */
export async function startArchive(request: ArchiveRequest): Promise<{ args: string[]; git: GitProcess }> {
  const { repository, commit, client } = request
  if (!isObjectId(commit)) throw new TypeError('not a commit')
  const args = argsOf(request)
  const git = await startGit(args, { repository, client, long: true })
  git.stdin.end()
  return { args, git }
}

/** Returns an archive as a stream. Git creates it as fast as it is read. */
export async function streamArchive(request: ArchiveRequest): Promise<Readable> {
  const { args, git } = await startArchive(request)
  return outputOf(args, git)
}

let hasBzip2 = false

/** Throws Unavailable when a program that the format needs is missing on this machine. */
export async function requireFormat(format: ArchiveFormat, path = gitEnvironment().PATH ?? ''): Promise<void> {
  if (format !== 'tar.bz2' || hasBzip2) return
  const tries = await Promise.allSettled(path.split(delimiter).map(folder => access(join(folder, 'bzip2'))))
  hasBzip2 = tries.some(({ status }) => status === 'fulfilled')
  if (!hasBzip2) throw new Unavailable('bzip2 is not installed on the server: use tar.gz, tar or zip', 3600)
}
