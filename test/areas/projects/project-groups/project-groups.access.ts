import { ADMINISTER_GROUP, administer } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'

const withGroup = async ({ world: { app } }: Asking) => app.make.group({ visibilityLevel: 20 })

export const access: ResourceAccess = {
  project: {
    'POST /api/v3/projects/:id/share': {
      expected: administer('master', 201),
      specimen: async asking => ({ payload: { group_id: (await withGroup(asking)).id, group_access: 10 } })
    },
    'DELETE /api/v3/projects/:id/share/:group_id': {
      expected: administer('master', 204),
      specimen: async asking => {
        const group = await withGroup(asking)
        await asking.world.app.make.share(asking.project, group, 10)
        return { params: { group_id: group.id } }
      }
    }
  },
  group: {
    'POST /api/v3/groups/:id/projects/:project_id': {
      expected: ADMINISTER_GROUP(201),
      specimen: async ({ world: { app } }) => ({ params: { project_id: (await app.make.project()).id } })
    }
  }
}
