import { may } from '../../../../access/authorize.js'
import { NotFound } from '../../../../errors.js'
import { beginning } from '../../../../webhooks/body.js'
import { findSnippet, requireProjectSnippet, snippetContent } from '../../../projects/snippets/snippets.queries.js'
import type { NoteableKind } from '../noteables.js'

/** The maximum number of characters of the text of a snippet in a payload. */
const CONTENT_LIMIT = 100_000

export const snippetKind: NoteableKind = {
  type: 'Snippet',
  segment: 'snippets',
  param: 'snippet_id',
  words: 'a snippet',
  find: async (project, id, actor) => {
    if (!may(actor, 'snippet.read', project)) return undefined
    const found = await requireProjectSnippet(project, id, actor).catch(error => {
      if (error instanceof NotFound) return undefined
      throw error
    })
    // A private snippet of a project is for its members, and so are the hooks of the project.
    return found && { type: 'Snippet', id, authorId: found.author_id, confidential: false }
  },
  title: async id => (await findSnippet(id))?.title,
  page: async id => `snippets/${id}`,
  payload: async id => {
    const found = await findSnippet(id)
    if (!found) return undefined
    return {
      snippet: {
        id,
        title: found.title,
        content: beginning(await snippetContent(id), CONTENT_LIMIT),
        author_id: found.author_id,
        project_id: found.project_id,
        created_at: found.created_at.toISOString(),
        updated_at: found.updated_at.toISOString(),
        file_name: found.file_name,
        type: 'ProjectSnippet',
        visibility_level: found.visibility_level
      }
    }
  }
}
