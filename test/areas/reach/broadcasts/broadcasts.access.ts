import { ADMINISTRATOR, created } from '../../../access/actors.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'

const aMessage = async ({ world: { app, admin } }: Asking) => ({
  params: { id: (await app.as(admin).post('/broadcast_messages', { message: 'Down at noon' })).json().id }
})

export const access: ResourceAccess = {
  instance: {
    'GET /api/v3/broadcast_messages': { expected: ADMINISTRATOR },
    'GET /api/v3/broadcast_messages/:id': { expected: ADMINISTRATOR, specimen: aMessage },
    'POST /api/v3/broadcast_messages': {
      expected: created(ADMINISTRATOR),
      specimen: () => ({ payload: { message: 'Down at noon' } })
    },
    'PUT /api/v3/broadcast_messages/:id': {
      expected: ADMINISTRATOR,
      specimen: async asking => ({ ...(await aMessage(asking)), payload: { message: asking.unique } })
    },
    'DELETE /api/v3/broadcast_messages/:id': { expected: ADMINISTRATOR, specimen: aMessage }
  }
}
