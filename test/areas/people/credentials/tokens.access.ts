import { createToken } from '../../../../src/areas/people/credentials/tokens.js'
import { ADMINISTRATOR, created, SIGNED_IN } from '../../../access/actors.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'
import { someOrigin } from '../../../helpers/factory.js'

/** A token of the calling user. Others may not know that it exists. */
async function ownToken({ user }: Asking) {
  const { row } = await createToken(user, { name: 'own' }, { ...someOrigin, via: 'command' })
  return { params: { id: row.id } }
}

const newToken = ({ unique, world: { admin } }: Asking) => ({ params: { id: admin.id }, payload: { name: unique } })

export const access: ResourceAccess = {
  instance: {
    'GET /api/v3/personal_access_tokens': { expected: SIGNED_IN },
    'GET /api/v3/personal_access_tokens/:id': { expected: SIGNED_IN, specimen: ownToken },
    'POST /api/v3/personal_access_tokens': { expected: created(SIGNED_IN), specimen: newToken },
    'DELETE /api/v3/personal_access_tokens/:id': { expected: SIGNED_IN, specimen: ownToken },
    'POST /api/v3/users/:id/personal_access_tokens': { expected: created(ADMINISTRATOR), specimen: newToken }
  }
}
