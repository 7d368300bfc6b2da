import { administer, type ProjectStatuses, READ_COMMIT, write } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking, World } from '../../../access/world.js'
import type { TestUser } from '../../../helpers/factory.js'
import { insertMilestone, insertRow } from './make-merge-requests.js'

/** Each world has another database, and files that share a process share this module. */
const authors = new WeakMap<World, Promise<TestUser>>()

/** The author is not one of the actors, because authors may do more. */
function authorIn(world: World): Promise<TestUser> {
  const author = authors.get(world) ?? world.app.make.user()
  authors.set(world, author)
  return author
}

const aMergeRequest =
  (state = 'opened', payload?: object) =>
  async ({ project, world }: Asking) => {
    const { id, versionId } = await insertRow(project, await authorIn(world), state)
    return { params: { merge_request_id: id, version_id: versionId }, ...(payload && { payload }) }
  }

/**
 * Users who may not merge get 401. Users who may merge get 406, because the merge request is merged: that check comes after
 * the check of the right.
 */
const accept = Object.fromEntries(
  Object.entries(write(406)).map(([kind, statuses]) => [
    kind,
    Object.fromEntries(Object.entries(statuses).map(([actor, status]) => [actor, status === 403 ? 401 : status]))
  ])
) as unknown as ProjectStatuses

const read = { expected: READ_COMMIT, specimen: aMergeRequest() }
const merge = { expected: accept, specimen: aMergeRequest('merged', {}) }
const change = { expected: write(200), specimen: aMergeRequest('opened', { title: 'Another one' }) }
const subscribe = { expected: write(201), specimen: aMergeRequest('opened', {}) }
// Nobody is subscribed, so users who may end a subscription get 304.
const unsubscribe = { expected: write(304), specimen: aMergeRequest() }
const time = (status: number) => ({
  expected: write(status),
  specimen: aMergeRequest('opened', { duration: '1h' })
})

const ONE = '/api/v3/projects/:id/merge_requests/:merge_request_id'
const OLD = '/api/v3/projects/:id/merge_request/:merge_request_id'

const ofBoth = (one: string) => ({
  [`GET ${one}`]: read,
  [`PUT ${one}`]: change,
  [`PUT ${one}/merge`]: merge,
  [`POST ${one}/cancel_merge_when_build_succeeds`]: merge,
  [`PUT ${one}/cancel_merge_when_build_succeeds`]: merge,
  [`GET ${one}/commits`]: read,
  [`GET ${one}/changes`]: read,
  [`GET ${one}/closes_issues`]: read,
  [`POST ${one}/subscription`]: subscribe,
  [`DELETE ${one}/subscription`]: unsubscribe
})

export const access: ResourceAccess = {
  project: {
    'GET /api/v3/projects/:id/merge_requests': { expected: READ_COMMIT },
    // The two branches are the same: 422 shows that the user has the right.
    'POST /api/v3/projects/:id/merge_requests': {
      expected: write(422),
      specimen: () => ({ payload: { source_branch: 'x', target_branch: 'x', title: 'x' } })
    },
    [`DELETE ${ONE}`]: { expected: administer('owner'), specimen: aMergeRequest() },
    ...ofBoth(ONE),
    ...ofBoth(OLD),
    [`GET ${ONE}/versions`]: read,
    [`GET ${ONE}/versions/:version_id`]: read,
    [`GET ${ONE}/time_stats`]: read,
    [`POST ${ONE}/time_estimate`]: time(200),
    [`POST ${ONE}/reset_time_estimate`]: time(200),
    [`POST ${ONE}/add_spent_time`]: time(201),
    [`POST ${ONE}/reset_spent_time`]: time(200),
    'GET /api/v3/projects/:id/milestones/:milestone_id/merge_requests': {
      expected: READ_COMMIT,
      specimen: async ({ project }) => ({ params: { milestone_id: await insertMilestone(project) } })
    }
  }
}
