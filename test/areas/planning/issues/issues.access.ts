import { createIssue } from '../../../../src/areas/planning/issues/creation.js'
import { SIGNED_IN } from '../../../access/actors.js'
import { administer, READ_GROUP, SEE_PROJECT } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'
import { actorOf, projectRow } from '../../../helpers/factory.js'

/** The author is a user without any access, so that only the level of the actor decides. */
const anIssue = async ({ project, world, unique }: Asking) => {
  const { id } = await createIssue(
    await projectRow(project),
    { title: unique },
    actorOf(world.users.blocked ?? world.admin)
  )
  return { params: { issue_id: id } }
}
const one = '/api/v3/projects/:id/issues/:issue_id'
const write = (status = 200, payload = {}) => ({
  expected: administer('reporter', status),
  specimen: async (asking: Asking) => ({ ...(await anIssue(asking)), payload })
})

export const access: ResourceAccess = {
  instance: { 'GET /api/v3/issues': { expected: SIGNED_IN } },
  group: { 'GET /api/v3/groups/:id/issues': { expected: READ_GROUP } },
  project: {
    'GET /api/v3/projects/:id/issues': { expected: SEE_PROJECT() },
    [`GET ${one}`]: { expected: SEE_PROJECT(), specimen: anIssue },
    'POST /api/v3/projects/:id/issues': {
      expected: SEE_PROJECT(201),
      specimen: ({ unique }) => ({ payload: { title: unique } })
    },
    [`PUT ${one}`]: write(200, { title: 'new' }),
    [`DELETE ${one}`]: { expected: administer('owner'), specimen: anIssue },
    // The requirement specifies 400 for a refusal.
    [`POST ${one}/move`]: {
      expected: SEE_PROJECT(400),
      specimen: async asking => ({ ...(await anIssue(asking)), payload: { to_project_id: asking.project.id } })
    },
    [`POST ${one}/subscription`]: { expected: SEE_PROJECT(201), specimen: anIssue },
    [`DELETE ${one}/subscription`]: { expected: SEE_PROJECT(304), specimen: anIssue },
    [`GET ${one}/time_stats`]: { expected: SEE_PROJECT(), specimen: anIssue },
    [`POST ${one}/time_estimate`]: write(200, { duration: '1h' }),
    [`POST ${one}/reset_time_estimate`]: write(),
    [`POST ${one}/add_spent_time`]: write(201, { duration: '1h' }),
    [`POST ${one}/reset_spent_time`]: write()
  }
}
