// The operations of the commands on merge requests.
import { actorOf, type Origin, originOf } from '../../../access/actor.js'
import { NoSuch } from '../../../errors.js'
import { findSudoUser } from '../../people/credentials/credentials.js'
import { findProject, type ProjectRow } from '../../projects/projects/projects.queries.js'
import { acceptMergeRequest } from './accept/accept.js'
import { type MergeRequestRow, requireByNumber } from './merge-requests.queries.js'
import type { AcceptBody } from './merge-requests.schema.js'
import { changeState } from './update.js'

/** Closes or reopens a merge request by its number. Returns false when it is already in that state. Throws NotFound or Conflicts. */
export const changeMergeRequestState = async (
  project: ProjectRow,
  number: number,
  event: 'close' | 'reopen',
  origin: Origin
): Promise<boolean> => changeState(project, await requireByNumber(project.id, number), event, origin)

/**
 * Returns a function that merges in the name of a user, with the rights of this user: a commit needs a committer. Throws NoSuch;
 * the function throws what acceptMergeRequest throws.
 */
export async function mergerBy(username: string) {
  const user = await findSudoUser(username)
  if (!user) throw new NoSuch('active user', username)
  const actor = actorOf(user, 'command')
  return async (project: ProjectRow, number: number, body: AcceptBody): Promise<MergeRequestRow> => {
    const { id } = await requireByNumber(project.id, number)
    const seen = await findProject(project.id, actor)
    return acceptMergeRequest(seen ?? project, id, body, actor, originOf(actor, null))
  }
}
