// "Snippet": the text itself comes from the raw routes alone.
import { publicUrl } from '../../config.js'
import { described, IdOf, Moment, Nullable, Text } from '../../lib/schema.js'
import { type Static, Type } from '../../lib/type.js'
import type { ProjectRow } from '../projects/projects.queries.js'
import { viewUserBasic } from '../users/users.record.js'
import { UserBasic } from '../users/users.view.js'
import type { SnippetRow } from './snippets.queries.js'

const record = {
  id: IdOf('the snippet'),
  title: Text('its title'),
  file_name: Text('the name of its file'),
  author: described(UserBasic, 'who wrote it'),
  updated_at: Moment('when it last changed'),
  created_at: Moment('when it was made'),
  web_url: Text('its page')
}

export const ProjectSnippet = Type.Object(
  { ...record, expires_at: Nullable(Text('always null')) },
  { title: 'ProjectSnippet', description: 'A piece of text in a project.' }
)

export const PersonalSnippet = Type.Object(
  { ...record, raw_url: Text('its text') },
  { title: 'Snippet', description: 'A piece of text of a user.' }
)

const viewRecord = (snippet: SnippetRow, base: string) => ({
  id: snippet.id,
  title: snippet.title,
  file_name: snippet.file_name,
  author: viewUserBasic({
    id: snippet.author_id,
    name: snippet.author_name,
    username: snippet.author_username,
    state: snippet.author_state
  }),
  updated_at: snippet.updated_at,
  created_at: snippet.created_at,
  web_url: `${publicUrl()}${base}/snippets/${snippet.id}`
})

export const viewProjectSnippet = (
  snippet: SnippetRow,
  { namespace_path: namespace, path }: Pick<ProjectRow, 'namespace_path' | 'path'>
): Static<typeof ProjectSnippet> => ({ ...viewRecord(snippet, `/${namespace}/${path}`), expires_at: null })

export const viewPersonalSnippet = (snippet: SnippetRow): Static<typeof PersonalSnippet> => ({
  ...viewRecord(snippet, ''),
  raw_url: `${publicUrl()}/api/v3/snippets/${snippet.id}/raw`
})
