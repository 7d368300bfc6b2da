// Deletes the branches that the default branch contains. There may be thousands, so a job does it.
import { actorOf, originOf } from '../../../access/actor.js'
import { may } from '../../../access/authorize.js'
import { tipsMergedInto } from '../../../git/history/commits.js'
import { RefMoved, ZERO } from '../../../git/refs/refs.js'
import { batches } from '../../../lib/batches.js'
import { enqueue } from '../../../queue/enqueue.js'
import { findSudoUser } from '../../people/credentials/credentials.js'
import { findProject } from '../../projects/projects/projects.queries.js'
import { repositoryPath } from '../../projects/projects/repositories.js'
import { listBranches } from './branches.js'
import { type MovableProject, moveRefs } from './move-refs.js'
import type { RefMove } from './ref-changes.js'

const AT_ONCE = 100

/** Schedules the deletion on behalf of a user. */
export const scheduleMergedBranches = (project: { readonly id: number }, user: { readonly id: number }) =>
  enqueue('branches.delete_merged', { projectId: project.id, userId: user.id })

/** Deletes the branches. It does nothing when the user may no longer push. */
export async function deleteMergedBranches(
  { projectId, userId }: { readonly projectId: number; readonly userId: number },
  signal: AbortSignal
): Promise<void> {
  const user = await findSudoUser(String(userId))
  if (!user) return
  const actor = actorOf(user, 'private')
  const project = await findProject(projectId, actor)
  if (!project || !may(actor, 'branch.write', project)) return
  const origin = originOf(actor, null)
  for (const moves of batches(await deletions(project), AT_ONCE)) {
    if (signal.aborted) throw new Error('the deletion of merged branches was aborted')
    await moveRefs(project, moves, origin).catch(error => oneByOne(error, moves))
  }

  /** If one branch of a batch moved in the meantime, it stays and the others are deleted one by one. */
  async function oneByOne(error: unknown, moves: readonly RefMove[]): Promise<void> {
    if (!(error instanceof RefMoved) || !project) throw error
    for (const move of moves) {
      await moveRefs(project, [move], origin).catch(reason => {
        if (!(reason instanceof RefMoved)) throw reason
      })
    }
  }
}

async function deletions(project: MovableProject): Promise<RefMove[]> {
  const { branches, protections } = await listBranches(project)
  const tip = branches.find(({ name }) => name === project.default_branch)?.id
  if (tip === undefined) return []
  const merged = await tipsMergedInto(repositoryPath(project), tip, branches)
  return branches
    .filter(({ name, id }) => merged.has(id) && name !== project.default_branch && protections.of(name) === null)
    .map(({ name, id }) => ({ ref: `refs/heads/${name}`, old: id, new: ZERO }))
}
