// "Snippet": only the raw routes return the text itself.
import { publicUrl } from '../../../config.js'
import { described, IdOf, Moment, Nullable, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import { viewUserBasic } from '../../people/users/users.record.js'
import { UserBasic } from '../../people/users/users.view.js'
import type { ProjectRow } from '../projects/projects.queries.js'
import type { SnippetRow } from './snippets.queries.js'

const record = {
  id: IdOf('the snippet'),
  title: Text('the title'),
  file_name: Text('the file name'),
  author: described(UserBasic, 'the author'),
  updated_at: Moment('when it last changed'),
  created_at: Moment('when it was created'),
  web_url: Text('the URL of its page')
}

export const ProjectSnippet = Type.Object(
  { ...record, expires_at: Nullable(Text('always null')) },
  { title: 'ProjectSnippet', description: 'A piece of text in a project.' }
)

export const PersonalSnippet = Type.Object(
  { ...record, raw_url: Text('the URL of its text') },
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
