import { administer, administerGroup, READ_GROUP, SEE_PROJECT } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'
import { factory } from '../../../helpers/factory.js'

/** A new member of the project or group. */
const ofProject = async ({ project }: Asking) => ({ user_id: (await factory.member(project, 20)).id })
const ofGroup = async ({ group }: Asking) => ({ user_id: (await factory.groupMember(group, 20)).id })
const newMember = async () => ({ payload: { user_id: (await factory.user()).id, access_level: 20 } })

export const access: ResourceAccess = {
  project: {
    'GET /api/v3/projects/:id/members': { expected: SEE_PROJECT() },
    'GET /api/v3/projects/:id/members/:user_id': {
      expected: SEE_PROJECT(),
      specimen: async asking => ({ params: await ofProject(asking) })
    },
    'POST /api/v3/projects/:id/members': { expected: administer('master', 201), specimen: newMember },
    'PUT /api/v3/projects/:id/members/:user_id': {
      expected: administer('master'),
      specimen: async asking => ({ params: await ofProject(asking), payload: { access_level: 30 } })
    },
    'DELETE /api/v3/projects/:id/members/:user_id': {
      expected: administer('master'),
      specimen: async asking => ({ params: await ofProject(asking) })
    }
  },
  group: {
    'GET /api/v3/groups/:id/members': { expected: READ_GROUP },
    'GET /api/v3/groups/:id/members/:user_id': {
      expected: READ_GROUP,
      specimen: async asking => ({ params: await ofGroup(asking) })
    },
    'POST /api/v3/groups/:id/members': { expected: administerGroup(201), specimen: newMember },
    'PUT /api/v3/groups/:id/members/:user_id': {
      expected: administerGroup(),
      specimen: async asking => ({ params: await ofGroup(asking), payload: { access_level: 30 } })
    },
    'DELETE /api/v3/groups/:id/members/:user_id': {
      expected: administerGroup(),
      specimen: async asking => ({ params: await ofGroup(asking) })
    }
  }
}
