// The right to change and delete snippets of projects.
import type { Actor } from '../../../access/actor.js'
import { may } from '../../../access/authorize.js'
import { authorizeRecord, mayOnRecord } from '../../../access/records.js'
import type { ProjectRow } from '../projects/projects.queries.js'
import { requireProjectSnippet, type SnippetRow } from './snippets.queries.js'

interface Asked {
  readonly project: ProjectRow
  readonly actor: Actor
}

/** Returns a snippet that the caller may change. Throws NotFound or Forbidden. */
export async function requireChangeableSnippet({ project, actor }: Asked, id: number): Promise<SnippetRow> {
  const snippet = await requireProjectSnippet(project, id, actor, 'Snippet')
  authorizeRecord(actor, 'snippet.change', { author: snippet.author_id, project })
  return snippet
}

/** Whether the caller may change a snippet that the caller may read. */
export const mayChangeSnippet = ({ project, actor }: Asked, { author_id: author }: SnippetRow): boolean =>
  may(actor, 'snippet.write', project) && mayOnRecord(actor, 'snippet.change', { author, project })
