import { may } from '../../../../access/authorize.js'
import { row } from '../../../../db/connect/sql.js'
import { beginning } from '../../../../webhooks/body.js'
import { issueAttributes } from '../../../../webhooks/issue-payloads.js'
import { findIssue, findIssueAccess, findToldIssue } from '../../issues/issues.queries.js'
import type { NoteableKind } from '../noteables.js'

/** The maximum number of characters of a description in a payload. */
const DESCRIPTION_LIMIT = 100_000

export const issueKind: NoteableKind = {
  type: 'Issue',
  segment: 'issues',
  param: 'issue_id',
  words: 'an issue',
  find: async (project, id, actor) => {
    if (!may(actor, 'issue.read', project)) return undefined
    const found = await findIssueAccess(project, id, actor)
    return found && { type: 'Issue', id, authorId: found.author_id, confidential: found.confidential === 1 }
  },
  title: async id => (await findToldIssue(id))?.title,
  page: async id => {
    const found = await row<{ iid: number }>('select iid from issues where id = ?', [id])
    return `issues/${found?.iid ?? 0}`
  },
  payload: async id => {
    const issue = await findIssue(id)
    if (!issue) return undefined
    const description = issue.description === null ? null : beginning(issue.description, DESCRIPTION_LIMIT)
    const shown = {
      ...issue,
      confidential: issue.confidential === 1,
      created_at: issue.created_at.toISOString(),
      updated_at: issue.updated_at.toISOString()
    }
    return { issue: issueAttributes(shown, description) }
  }
}
