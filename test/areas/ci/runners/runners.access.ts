import { ADMINISTRATOR, created, SIGNED_IN, statuses } from '../../../access/actors.js'
import { administer } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'
import { factory } from '../../../helpers/factory.js'
import { makeRunner } from './make-runners.js'

/** A runner of the private project, for those who are masters there. */
const OF_MASTERS = statuses({
  nobody: 401,
  blocked: 401,
  readUser: 401,
  wrong: 401,
  master: 200,
  owner: 200,
  admin: 200,
  others: 403
})
const own = async ({ project }: Asking) => ({ params: { id: (await makeRunner({ projects: [project.id] })).id } })

/** A runner of another project of the user. */
async function another({ user }: Asking) {
  const project = await factory.project({ owner: user })
  return { payload: { runner_id: (await makeRunner({ projects: [project.id] })).id } }
}

async function ofTwo({ project }: Asking) {
  const other = await factory.project()
  return { params: { runner_id: (await makeRunner({ projects: [project.id, other.id] })).id } }
}

export const access: ResourceAccess = {
  instance: {
    'GET /api/v3/runners': { expected: SIGNED_IN },
    'GET /api/v3/runners/all': { expected: ADMINISTRATOR },
    'GET /api/v3/runners/registration_token': { expected: ADMINISTRATOR },
    'POST /api/v3/runners/registration_token/reset': { expected: created(ADMINISTRATOR) },
    'GET /api/v3/runners/:id': { expected: OF_MASTERS, specimen: own },
    'PUT /api/v3/runners/:id': {
      expected: OF_MASTERS,
      specimen: async asking => ({ ...(await own(asking)), payload: { description: 'changed' } })
    },
    'DELETE /api/v3/runners/:id': { expected: OF_MASTERS, specimen: own }
  },
  project: {
    'GET /api/v3/projects/:id/runners': { expected: administer('master') },
    'POST /api/v3/projects/:id/runners': { expected: administer('master', 201), specimen: another },
    'DELETE /api/v3/projects/:id/runners/:runner_id': { expected: administer('master'), specimen: ofTwo }
  }
}
