// An issue that follows up on a merge request gets its title from the merge request, unless the request contains one.
import type { Actor } from '../../../access/actor.js'
import { may } from '../../../access/authorize.js'
import { row } from '../../../db/connect/sql.js'
import { BadParameters } from '../../../errors.js'
import { beginning } from '../../../webhooks/body.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { LONGEST_TITLE } from './issue-values.js'
import type { IssueBody } from './issues.schema.js'

/**
 * Returns the title of a new issue. Decided: the number of a merge request makes it optional. Not specified: a number
 * of a merge request that does not exist or that the user may not read. It is ignored, like other values that do not
 * fit. Throws BadParameters without a title.
 *
 * The requirement has no way to start a discussion that could be resolved, so the issue resolves none.
 */
export async function titleOf(project: ProjectRow, body: IssueBody, actor: Actor): Promise<string> {
  const { title, merge_request_for_resolving_discussions: number } = body
  if (title !== undefined) return title
  const found = number !== undefined && may(actor, 'merge_request.read', project) && (await findTitle(project, number))
  if (!found) throw BadParameters.missing('title')
  const [before, after] = ['Follow-up from "', '"']
  const room = LONGEST_TITLE - before.length - after.length
  return `${before}${found.length > room ? `${beginning(found, room - 1)}…` : found}${after}`
}

async function findTitle({ id }: ProjectRow, number: number): Promise<string | undefined> {
  const found = await row<{ title: string }>(
    'select title from merge_requests where target_project_id = ? and iid = ? and deleted_at is null',
    [id, number]
  )
  return found?.title
}
