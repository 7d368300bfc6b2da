import { addKey } from '../../../../src/areas/people/users/keys.js'
import {
  ADMINISTRATOR,
  ADMINISTRATOR_OR_READ_USER,
  created,
  SIGNED_IN,
  SIGNED_IN_OR_READ_USER
} from '../../../access/actors.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'
import { someOrigin } from '../../../helpers/factory.js'
import { newKey } from '../../../helpers/ssh-keys.js'

/** A key of the calling user. Others may not know that it exists. */
async function ownKey({ user }: Asking) {
  const { id } = await addKey(user, { title: 'own', key: newKey() }, someOrigin)
  return { params: { key_id: id, id } }
}

/** A key of the administrator, under the administrator's own path. */
async function keyOfAdmin({ world: { admin } }: Asking) {
  const { id } = await addKey(admin, { title: 'own', key: newKey() }, someOrigin)
  return { params: { key_id: id, id: admin.id } }
}

const aKey = ({ unique, world: { admin } }: Asking) => ({
  params: { id: admin.id },
  payload: { title: unique, key: newKey() }
})

export const access: ResourceAccess = {
  instance: {
    'GET /api/v3/user/keys': { expected: SIGNED_IN_OR_READ_USER },
    'GET /api/v3/user/keys/:key_id': { expected: SIGNED_IN_OR_READ_USER, specimen: ownKey },
    'POST /api/v3/user/keys': { expected: created(SIGNED_IN), specimen: aKey },
    'DELETE /api/v3/user/keys/:key_id': { expected: SIGNED_IN, specimen: ownKey },
    'GET /api/v3/users/:id/keys': { expected: ADMINISTRATOR_OR_READ_USER, specimen: keyOfAdmin },
    'POST /api/v3/users/:id/keys': { expected: created(ADMINISTRATOR), specimen: aKey },
    'DELETE /api/v3/users/:id/keys/:key_id': { expected: ADMINISTRATOR, specimen: keyOfAdmin },
    'GET /api/v3/keys/:id': { expected: ADMINISTRATOR, specimen: ownKey }
  }
}
