// Runners have their own tokens. A client without one, or with another credential, gets the same response.
import { created, EVERYBODY, statuses } from '../../../access/actors.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'
import { makeTrigger } from '../pipelines/make-triggers.js'

const refused = {
  expected: statuses({ others: 403 }),
  specimen: () => ({ payload: { token: 'no token of a runner' } })
}
const ofBuild = {
  expected: statuses({ others: 403 }),
  specimen: () => ({ params: { id: 1 }, payload: { token: 'no token of a build' } })
}
const read = { expected: statuses({ others: 403 }), specimen: () => ({ params: { id: 1 } }) }

export const access: ResourceAccess = {
  instance: {
    'POST /api/v4/runners': refused,
    'POST /api/v4/runners/verify': refused,
    'POST /api/v4/runners/reset_authentication_token': refused,
    'DELETE /api/v4/runners': refused,
    'DELETE /api/v4/runners/managers': refused,
    'POST /api/v4/jobs/request': refused,
    'PUT /api/v4/jobs/:id': ofBuild,
    'PATCH /api/v4/jobs/:id/trace': ofBuild,
    'POST /api/v4/jobs/:id/artifacts': ofBuild,
    'GET /api/v4/jobs/:id/artifacts': read,
    'POST /ci/api/v1/runners/register': refused,
    'DELETE /ci/api/v1/runners/delete': refused,
    'POST /ci/api/v1/builds/register': refused,
    'PUT /ci/api/v1/builds/:id': ofBuild,
    'PATCH /ci/api/v1/builds/:id/trace.txt': ofBuild,
    'POST /ci/api/v1/builds/:id/artifacts': ofBuild,
    'DELETE /ci/api/v1/builds/:id/artifacts': ofBuild,
    'GET /ci/api/v1/builds/:id/artifacts': read,
    'POST /ci/api/v1/projects/:id/refs/:ref/trigger': {
      expected: created(EVERYBODY),
      specimen: async ({ project }: Asking) => ({
        params: { id: project.id, ref: 'master' },
        payload: { token: await makeTrigger(project) }
      })
    }
  }
}
