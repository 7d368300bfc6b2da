import { row, rows } from '../../../../db/connect/sql.js'
import { shortTexts, withLongTexts } from '../../../../db/lists/long-texts.js'
import { countTotal, type Page, type PageRequest, window } from '../../../../db/lists/paginate.js'
import type { ShownProject } from '../../../code/refs/ref-changes.queries.js'

export interface CommitCommentRow {
  readonly id: number
  readonly project_id: number
  readonly sha: string
  readonly author_id: number
  readonly note: string
  readonly path: string | null
  readonly line: number | null
  readonly line_type: string | null
  readonly created_at: Date
  readonly author_name: string
  readonly author_username: string
  readonly author_state: 'active' | 'blocked' | 'ldap_blocked'
}

// Notes on other records are in the same table.
const FROM = 'notes c straight_join users u on u.id = c.author_id'
const columnsWith = (
  note: string
) => `c.id, c.project_id, c.commit_id as sha, c.author_id, ${note} as note, c.path, c.line,
  c.line_type, c.created_at, u.name as author_name, u.username as author_username, u.state as author_state`
const SELECT = `select ${columnsWith('c.note')} from ${FROM}`
const SHORT = shortTexts('c.note')
const OF_COMMIT = 'c.project_id = ? and c.commit_id = ? and not c.is_system'

/** Returns a page of the comments on a commit, oldest first. */
export async function listCommitComments(
  projectId: number,
  sha: string,
  query: PageRequest
): Promise<Page<CommitCommentRow>> {
  const { page, perPage, sql } = window(query)
  const values = [projectId, sha]
  const [items, total] = await Promise.all([
    rows<CommitCommentRow>(
      `select ${columnsWith(SHORT.text)}, ${SHORT.bytes} from ${FROM} where ${OF_COMMIT} order by c.id ${sql}`,
      values
    ),
    countTotal(`select count(*) as total from ${FROM} where ${OF_COMMIT}`, values)
  ])
  return { items: await withLongTexts(items, { table: 'notes', column: 'note' }), total, page, perPage }
}

export const findCommitComment = (id: number) =>
  row<CommitCommentRow>(`${SELECT} where c.id = ? and c.noteable_type = 'Commit'`, [id])

/** A comment with the data of its project and its author that hooks need. */
export interface HookCommentRow extends CommitCommentRow, ShownProject {
  readonly author_email: string
  readonly storage: string
}

/** Returns undefined when the comment, its author or its project no longer exists. */
export const findHookComment = (id: number) =>
  row<HookCommentRow>(
    `select c.id, c.project_id, c.commit_id as sha, c.author_id, c.note, c.path, c.line, c.line_type, c.created_at,
       u.name as author_name, u.username as author_username, u.state as author_state, u.email as author_email,
       p.storage, p.name as project_name, p.path as project_path, p.description, p.visibility_level, p.default_branch,
       n.name as namespace_name, n.path as namespace_path
     from notes c join users u on u.id = c.author_id join projects p on p.id = c.project_id
     join namespaces n on n.id = p.namespace_id where c.id = ? and c.noteable_type = 'Commit'`,
    [id]
  )
