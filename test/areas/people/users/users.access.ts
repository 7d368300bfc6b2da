import { ADMINISTRATOR, created, SIGNED_IN_OR_READ_USER } from '../../../access/actors.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'

/** A user whom a request may change or delete. */
const somebody = async ({ world: { app } }: Asking) => ({ params: { id: (await app.make.user()).id } })

const newUser = ({ unique }: Asking) => ({
  payload: { email: `${unique}@example.org`, password: 'long enough', username: unique, name: 'Somebody' }
})

export const access: ResourceAccess = {
  instance: {
    'GET /api/v3/user': { expected: SIGNED_IN_OR_READ_USER },
    'GET /api/v3/users': { expected: SIGNED_IN_OR_READ_USER },
    'GET /api/v3/users/:id': { expected: SIGNED_IN_OR_READ_USER, specimen: somebody },
    'POST /api/v3/users': { expected: created(ADMINISTRATOR), specimen: newUser },
    'PUT /api/v3/users/:id': {
      expected: ADMINISTRATOR,
      specimen: async asking => ({ ...(await somebody(asking)), payload: { bio: asking.unique } })
    },
    'PUT /api/v3/users/:id/block': { expected: ADMINISTRATOR, specimen: somebody },
    'PUT /api/v3/users/:id/unblock': {
      expected: ADMINISTRATOR,
      specimen: async ({ world: { app } }) => ({ params: { id: (await app.make.user({ blocked: true })).id } })
    }
  }
}
