import { createMilestone } from '../../../../src/areas/planning/milestones/milestones.js'
import { administer, SEE_PROJECT } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'
import { originBy } from '../../../helpers/factory.js'

const aMilestone = async ({ project, world, unique }: Asking) => {
  const { id } = await createMilestone(project, { title: unique }, originBy(world.admin))
  return { params: { milestone_id: id } }
}

export const access: ResourceAccess = {
  project: {
    'GET /api/v3/projects/:id/milestones': { expected: SEE_PROJECT() },
    'GET /api/v3/projects/:id/milestones/:milestone_id': { expected: SEE_PROJECT(), specimen: aMilestone },
    'GET /api/v3/projects/:id/milestones/:milestone_id/issues': { expected: SEE_PROJECT(), specimen: aMilestone },
    'POST /api/v3/projects/:id/milestones': {
      expected: administer('master', 201),
      specimen: ({ unique }) => ({ payload: { title: unique } })
    },
    'PUT /api/v3/projects/:id/milestones/:milestone_id': {
      expected: administer('master'),
      specimen: async asking => ({ ...(await aMilestone(asking)), payload: { description: 'x' } })
    }
  }
}
