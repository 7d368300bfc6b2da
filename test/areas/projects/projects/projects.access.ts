import { execute } from '../../../../src/db/connect/sql.js'
import { ADMINISTRATOR, ANYBODY, created, SIGNED_IN } from '../../../access/actors.js'
import { administer, READ_GROUP, READ_PROJECT, SEE_PROJECT } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'

/** Another project for those who may change the state of the one that is asked about: the world needs it as it is. */
const spare = async ({ world: { app, users }, actor }: Asking) => {
  if (actor !== 'owner' && actor !== 'admin') return {}
  const { id } = await app.make.project({ owner: users.owner })
  return { params: { id } }
}

const archived = async (asking: Asking) => {
  const found = await spare(asking)
  if (found.params) await execute('update projects set archived = 1 where id = ?', [found.params.id])
  return found
}

export const access: ResourceAccess = {
  instance: {
    'GET /api/v3/projects': { expected: SIGNED_IN },
    'GET /api/v3/projects/owned': { expected: SIGNED_IN },
    'GET /api/v3/projects/starred': { expected: SIGNED_IN },
    'GET /api/v3/projects/visible': { expected: ANYBODY },
    'GET /api/v3/projects/all': { expected: ADMINISTRATOR },
    'GET /api/v3/projects/search/:query': { expected: ANYBODY, specimen: () => ({ params: { query: 'a' } }) },
    'POST /api/v3/projects': {
      expected: created(SIGNED_IN),
      specimen: ({ unique }) => ({ payload: { name: unique } })
    },
    'POST /api/v3/projects/user/:user_id': {
      expected: created(ADMINISTRATOR),
      specimen: ({ unique, user }) => ({ params: { user_id: user.id }, payload: { name: unique } })
    }
  },
  project: {
    'GET /api/v3/projects/:id': { expected: READ_PROJECT },
    'GET /api/v3/projects/:id/users': { expected: READ_PROJECT },
    'PUT /api/v3/projects/:id': {
      expected: administer('master'),
      specimen: ({ unique }) => ({ payload: { description: unique } })
    },
    'POST /api/v3/projects/:id/archive': { expected: administer('owner', 201), specimen: spare },
    'POST /api/v3/projects/:id/unarchive': { expected: administer('owner', 201), specimen: archived },
    'POST /api/v3/projects/:id/star': { expected: SEE_PROJECT(201) },
    'DELETE /api/v3/projects/:id/star': {
      expected: SEE_PROJECT(),
      specimen: async ({ project, user }) => {
        const values = [project.id, user.id, new Date()]
        await execute('insert ignore into project_stars (project_id, user_id, created_at) values (?, ?, ?)', values)
        return {}
      }
    }
  },
  group: {
    'GET /api/v3/groups/:id/projects': { expected: READ_GROUP }
  }
}
