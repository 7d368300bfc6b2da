// The whole change of a commit as text, for tools, and for people when it is too large for a page.
import type { Readable } from 'node:stream'
import { type Actor, slotOwner } from '../../../access/actor.js'
import { openCommitDiff } from '../../../git/history/whole-diff.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { repositoryPath } from '../../projects/projects/repositories.js'

/** Returns the change of an existing commit as a stream; the format `patch` adds its author and its message, as `git am` reads them. */
export const openDiff = (project: ProjectRow, id: string, format: 'diff' | 'patch', actor: Actor): Promise<Readable> =>
  openCommitDiff(repositoryPath(project), id, { isMail: format === 'patch', client: slotOwner(actor) })
