import { may } from '../../../../access/authorize.js'
import { row } from '../../../../db/connect/sql.js'
import { NotFound } from '../../../../errors.js'
import { mergeRequestAttributes } from '../../../../webhooks/merge-request-payloads.js'
import { readPayload } from '../../merge-requests/listeners.js'
import { findMergeRequest, requireMergeRequest } from '../../merge-requests/merge-requests.queries.js'
import type { NoteableKind } from '../noteables.js'

export const mergeRequestKind: NoteableKind = {
  type: 'MergeRequest',
  segment: 'merge_requests',
  param: 'merge_request_id',
  words: 'a merge request',
  find: async (project, id, actor) => {
    if (!may(actor, 'merge_request.read', project)) return undefined
    const found = await requireMergeRequest(project.id, id).catch(error => {
      if (error instanceof NotFound) return undefined
      throw error
    })
    return found && { type: 'MergeRequest', id, authorId: found.author_id, confidential: false }
  },
  title: async id => (await row<{ title: string }>('select title from merge_requests where id = ?', [id]))?.title,
  page: async id => {
    const found = await row<{ iid: number }>('select iid from merge_requests where id = ?', [id])
    return `merge_requests/${found?.iid ?? 0}`
  },
  payload: async id => {
    const found = await findMergeRequest(id)
    if (!found) return undefined
    const flag = (value: number | null) => (value === null ? null : value === 1)
    const snapshot = {
      ...found,
      merge_when_build_succeeds: found.merge_when_build_succeeds === 1,
      should_remove_source_branch: flag(found.should_remove_source_branch),
      force_remove_source_branch: flag(found.force_remove_source_branch)
    }
    return { merge_request: mergeRequestAttributes(await readPayload(snapshot, null)) }
  }
}
