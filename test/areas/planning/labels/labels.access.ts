import { administer, SEE_PROJECT } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'
import { makeLabel } from './make-labels.js'

const aLabel = async ({ project, unique }: Asking) => {
  await makeLabel({ project: project.id }, unique)
  return { params: { label_id: unique }, query: { name: unique } }
}

export const access: ResourceAccess = {
  project: {
    'GET /api/v3/projects/:id/labels': { expected: SEE_PROJECT() },
    'POST /api/v3/projects/:id/labels': {
      expected: administer('reporter', 201),
      specimen: ({ unique }) => ({ payload: { name: unique, color: '#fff' } })
    },
    'PUT /api/v3/projects/:id/labels': {
      expected: administer('reporter'),
      specimen: async asking => {
        await aLabel(asking)
        return { payload: { name: asking.unique, color: '#000' } }
      }
    },
    'DELETE /api/v3/projects/:id/labels': { expected: administer('reporter'), specimen: aLabel },
    'POST /api/v3/projects/:id/labels/:label_id/subscription': { expected: SEE_PROJECT(201), specimen: aLabel },
    'DELETE /api/v3/projects/:id/labels/:label_id/subscription': {
      expected: SEE_PROJECT(304),
      specimen: aLabel
    }
  }
}
