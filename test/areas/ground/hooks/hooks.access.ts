import { Hook } from '../../../../src/db/models/index.js'
import { ADMINISTRATOR, created } from '../../../access/actors.js'
import { administer } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'

/** Adds a hook with a pending delivery. */
async function aHook({ world: { app, admin } }: Asking) {
  const asker = app.as(admin)
  const [{ id }] = (await asker.post('/hooks', { url: 'http://hooks.example.org/' })).json()
  await asker.get(`/hooks/${id}`)
  const [delivery] = (await asker.get(`/hooks/${id}/deliveries`)).json()
  return { params: { id, delivery_id: delivery.id } }
}

const url = 'http://hooks.example.org/'
const aProjectHook = async ({ project }: Asking) => ({
  params: { hook_id: (await Hook.create({ projectId: project.id, url })).id }
})

export const access: ResourceAccess = {
  instance: {
    'GET /api/v3/hooks': { expected: ADMINISTRATOR },
    'POST /api/v3/hooks': {
      expected: created(ADMINISTRATOR),
      specimen: () => ({ payload: { url: 'http://hooks.example.org/' } })
    },
    'GET /api/v3/hooks/:id': { expected: ADMINISTRATOR, specimen: aHook },
    'DELETE /api/v3/hooks/:id': { expected: ADMINISTRATOR, specimen: aHook },
    'GET /api/v3/hooks/:id/deliveries': { expected: ADMINISTRATOR, specimen: aHook },
    'GET /api/v3/hooks/:id/deliveries/:delivery_id': { expected: ADMINISTRATOR, specimen: aHook },
    'POST /api/v3/hooks/:id/deliveries/:delivery_id/redeliver': { expected: created(ADMINISTRATOR), specimen: aHook }
  },
  project: {
    'GET /api/v3/projects/:id/hooks': { expected: administer('master') },
    'GET /api/v3/projects/:id/hooks/:hook_id': { expected: administer('master'), specimen: aProjectHook },
    'POST /api/v3/projects/:id/hooks': {
      expected: administer('master', 201),
      specimen: async ({ project }) => {
        await Hook.destroy({ where: { projectId: project.id } })
        return { payload: { url } }
      }
    },
    'PUT /api/v3/projects/:id/hooks/:hook_id': {
      expected: administer('master'),
      specimen: async asking => ({ ...(await aProjectHook(asking)), payload: { url } })
    },
    'DELETE /api/v3/projects/:id/hooks/:hook_id': { expected: administer('master'), specimen: aProjectHook }
  }
}
