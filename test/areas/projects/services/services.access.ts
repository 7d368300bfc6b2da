import { administer } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'

const expected = administer('master')
const params = { slug: 'emails-on-push' }
const payload = { recipients: 'ada@example.org' }

export const access: ResourceAccess = {
  project: {
    'GET /api/v3/projects/:id/services/:slug': { expected, specimen: () => ({ params }) },
    'PUT /api/v3/projects/:id/services/:slug': { expected, specimen: () => ({ params, payload }) },
    'DELETE /api/v3/projects/:id/services/:slug': {
      expected,
      specimen: async ({ project, world: { app, admin } }) => {
        await app.as(admin).put(`/projects/${project.id}/services/${params.slug}`, payload)
        return { params }
      }
    }
  }
}
