// A repository that has lost its refs looks as an empty one, to this program and to git.
import { DamagedRepository } from '../../git/objects.js'
import { lookUpRef } from '../../git/ref-lookup.js'
import { refValue } from '../../git/refs.js'
import type { Service } from '../../git/transport.js'
import { ensureRepository, type StoredProject } from '../projects/repositories.js'
import { isRecorded } from './ref-changes.queries.js'

interface Branched extends StoredProject {
  readonly default_branch: string | null
}

/**
 * Throws DamagedRepository when a repository has lost its default branch: nothing in it tells that, but the record of its
 * changes does. A branch whose file is there and cannot be read counts as lost.
 */
export async function refuseLostBranch(project: Branched, repository: string): Promise<void> {
  const name = project.default_branch
  if (!name) return
  const ref = `refs/heads/${name}`
  // Almost always its file is there, and git need not be asked.
  if ((await lookUpRef(repository, ref)) || (await refValue(repository, ref))) return
  if (!(await isRecorded(project.id, ref))) return
  throw new DamagedRepository(repository, `it has lost its default branch ${name}`)
}

/**
 * Returns the path of the repository that a service of git gets. Throws as `refuseLostBranch` does, but lets a push in: it may
 * bring the branch back.
 */
export async function repositoryFor(service: Service, project: Branched): Promise<string> {
  const repository = await ensureRepository(project)
  if (service === 'git-upload-pack') await refuseLostBranch(project, repository)
  return repository
}
