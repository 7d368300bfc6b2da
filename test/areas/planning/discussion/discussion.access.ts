import { answering, type Statuses, statuses } from '../../../access/actors.js'
import {
  administer,
  COMMENT_COMMIT,
  type ProjectStatuses,
  READ_COMMIT,
  SEE_PROJECT
} from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'
import { makeSnippet } from '../../projects/snippets/make-snippets.js'
import { insertRow } from '../merge-requests/make-merge-requests.js'
import { makeAward, makeIssue, makeNote } from './make-discussion.js'

type Make = (
  asking: Asking
) => Promise<{ type: 'Issue' | 'Snippet' | 'MergeRequest'; id: number; params: Record<string, number> }>

const anIssue: Make = async ({ project, world }) => {
  const id = await makeIssue(project, world.admin)
  return { type: 'Issue', id, params: { issue_id: id } }
}
const aSnippet: Make = async ({ project, world }) => {
  const id = await makeSnippet(world.admin, project)
  return { type: 'Snippet', id, params: { snippet_id: id } }
}

const aMergeRequest: Make = async ({ project, world }) => {
  const { id } = await insertRow(project, world.admin)
  return { type: 'MergeRequest', id, params: { merge_request_id: id } }
}

/** Guests of a private project cannot read merge requests, so they get 404 for the notes too. */
function hidingFromGuests(expected: ProjectStatuses): ProjectStatuses {
  const { private: hidden, privateClosed, grouped } = expected
  const hide = (kind: Statuses) => statuses({ ...kind, guest: 404 })
  return { ...expected, private: hide(hidden), privateClosed: hide(privateClosed), grouped: hide(grouped) }
}

function comments(segment: string): NonNullable<ResourceAccess['project']> {
  const path = `/api/v3/projects/:id/${segment}/:merge_request_id/comments`
  return {
    [`GET ${path}`]: { expected: READ_COMMIT, specimen: aMergeRequest },
    [`POST ${path}`]: {
      expected: COMMENT_COMMIT,
      specimen: async asking => ({ ...(await aMergeRequest(asking)), payload: { note: 'Well done' } })
    }
  }
}

/** Administrators created these awards, so only they may remove them; others get 401. */
const TAKE_BACK: ProjectStatuses = Object.fromEntries(
  Object.entries(SEE_PROJECT()).map(([kind, expected]) => [kind, statuses({ ...answering(401, expected), admin: 200 })])
) as ProjectStatuses

type Hide = (expected: ProjectStatuses) => ProjectStatuses

function routesOf(path: string, make: Make, hide: Hide = same => same): NonNullable<ResourceAccess['project']> {
  const routes = allRoutesOf(path, make)
  return Object.fromEntries(
    Object.entries(routes).map(([route, access]) => [route, { ...access, expected: hide(access.expected) }])
  )
}

function allRoutesOf(path: string, make: Make): NonNullable<ResourceAccess['project']> {
  const base = `/api/v3/projects/:id/${path}`
  const withNote = async (asking: Asking) => {
    const { type, id, params } = await make(asking)
    return { params: { ...params, note_id: await makeNote(asking.project, { type, id }, asking.world.admin) } }
  }
  const withAward = async (asking: Asking) => {
    const { type, id, params } = await make(asking)
    return { params: { ...params, award_id: await makeAward({ type, id }, asking.world.admin) } }
  }
  const withNoteAward = async (asking: Asking) => {
    const { params } = await withNote(asking)
    const award = await makeAward({ type: 'Note', id: params.note_id }, asking.world.admin)
    return { params: { ...params, award_id: award } }
  }
  const body = { body: 'Well done' }
  const note = `${base}/notes/:note_id`
  return {
    [`GET ${base}/notes`]: { expected: SEE_PROJECT(), specimen: make },
    [`GET ${note}`]: { expected: SEE_PROJECT(), specimen: withNote },
    [`POST ${base}/notes`]: {
      expected: SEE_PROJECT(201),
      specimen: async asking => ({ ...(await make(asking)), payload: body })
    },
    [`PUT ${note}`]: {
      expected: administer('master'),
      specimen: async asking => ({ ...(await withNote(asking)), payload: body })
    },
    [`DELETE ${note}`]: { expected: administer('master'), specimen: withNote },
    ...awardsAt(`${base}/award_emoji`, make, withAward),
    ...awardsAt(`${note}/award_emoji`, withNote, withNoteAward)
  }
}

type Specimens = (asking: Asking) => Promise<{ params: Record<string, number> }>

const awardsAt = (path: string, make: Specimens, withAward: Specimens): NonNullable<ResourceAccess['project']> => ({
  [`GET ${path}`]: { expected: SEE_PROJECT(), specimen: make },
  [`GET ${path}/:award_id`]: { expected: SEE_PROJECT(), specimen: withAward },
  [`POST ${path}`]: {
    expected: SEE_PROJECT(201),
    specimen: async asking => ({ ...(await make(asking)), payload: { name: 'tada' } })
  },
  [`DELETE ${path}/:award_id`]: { expected: TAKE_BACK, specimen: withAward }
})

export const access: ResourceAccess = {
  project: {
    ...routesOf('issues/:issue_id', anIssue),
    ...routesOf('snippets/:snippet_id', aSnippet),
    ...routesOf('merge_requests/:merge_request_id', aMergeRequest, hidingFromGuests),
    ...comments('merge_requests'),
    ...comments('merge_request')
  }
}
