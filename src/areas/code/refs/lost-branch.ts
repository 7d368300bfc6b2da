// To this program and to git, a repository that has lost its refs looks like an empty one.
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { config } from '../../../config.js'
import { DiskFull } from '../../../errors.js'
import { DamagedRepository } from '../../../git/objects/objects.js'
import { lookUpRef } from '../../../git/refs/lookup.js'
import { refValue } from '../../../git/refs/refs.js'
import type { Service } from '../../../git/transport/transport.js'
import { ensureRepository, type StoredProject } from '../../projects/projects/repositories.js'
import { isRecorded } from './ref-changes.queries.js'

interface Branched extends StoredProject {
  readonly default_branch: string | null
}

/**
 * Throws DamagedRepository when a repository has lost its default branch: the repository itself does not show that, but
 * the record of its changes does. A branch whose file exists but cannot be read counts as lost.
 */
export async function refuseLostBranch(project: Branched, repository: string): Promise<void> {
  const name = project.default_branch
  if (!name) return
  const ref = `refs/heads/${name}`
  // Almost always its file exists, and no git process is needed.
  if ((await lookUpRef(repository, ref)) || (await refValue(repository, ref))) return
  if (!(await isRecorded(project.id, ref))) return
  throw new DamagedRepository(repository, `it has lost its default branch ${name}`)
}

const MOST_RESERVE = 16 * 1024 * 1024

/** Throws DiskFull when less than 2 % of a disk, or 16 MiB, are free. */
async function requireSpace(folder: string): Promise<void> {
  const space = await statfs(folder).catch(() => undefined)
  if (!space) return
  const { bavail, blocks, bsize, files, ffree } = space
  const isFull = bavail * bsize < Math.min(MOST_RESERVE, (blocks * bsize) / 50)
  // Some file systems have no limit of files.
  if (isFull || (files > 0 && ffree === 0)) throw new DiskFull()
}

/**
 * Returns the path of the repository for a git service. Throws as `refuseLostBranch` does, but accepts a push, which
 * may restore the branch. Throws DiskFull before a push: at this moment, git still shows the reason to its user.
 */
export async function repositoryFor(service: Service, project: Branched): Promise<string> {
  const repository = await ensureRepository(project)
  if (service === 'git-upload-pack') await refuseLostBranch(project, repository)
  else for (const folder of [repository, join(config().home, 'tmp')]) await requireSpace(folder)
  return repository
}
