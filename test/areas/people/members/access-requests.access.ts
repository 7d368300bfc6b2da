import { execute } from '../../../../src/db/connect/sql.js'
import { ASK_GROUP, ASK_PROJECT, administer, administerGroup } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'
import { factory } from '../../../helpers/factory.js'

const ofProject = async ({ project }: Asking) => ({ user_id: (await factory.accessRequest('project', project)).id })
const ofGroup = async ({ group }: Asking) => ({ user_id: (await factory.accessRequest('namespace', group)).id })

async function open(table: 'projects' | 'namespaces', { id }: { id: number }) {
  await execute(`update ${table} set request_access_enabled = 1 where id = ?`, [id])
  return {}
}

export const access: ResourceAccess = {
  project: {
    'GET /api/v3/projects/:id/access_requests': { expected: administer('master') },
    'POST /api/v3/projects/:id/access_requests': {
      expected: ASK_PROJECT,
      specimen: ({ project }) => open('projects', project)
    },
    'PUT /api/v3/projects/:id/access_requests/:user_id/approve': {
      expected: administer('master'),
      specimen: async asking => ({ params: await ofProject(asking) })
    },
    'DELETE /api/v3/projects/:id/access_requests/:user_id': {
      expected: administer('master'),
      specimen: async asking => ({ params: await ofProject(asking) })
    }
  },
  group: {
    'GET /api/v3/groups/:id/access_requests': { expected: administerGroup() },
    'POST /api/v3/groups/:id/access_requests': {
      expected: ASK_GROUP,
      specimen: ({ group }) => open('namespaces', group)
    },
    'PUT /api/v3/groups/:id/access_requests/:user_id/approve': {
      expected: administerGroup(),
      specimen: async asking => ({ params: await ofGroup(asking) })
    },
    'DELETE /api/v3/groups/:id/access_requests/:user_id': {
      expected: administerGroup(),
      specimen: async asking => ({ params: await ofGroup(asking) })
    }
  }
}
