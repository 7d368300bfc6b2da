import { addEmail } from '../../../../src/areas/people/users/emails.js'
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

/** An address of the calling user. Others may not know that it exists. */
async function ownEmail({ user, unique }: Asking) {
  const { id } = await addEmail(user, { email: `own-${unique}@example.com` }, someOrigin)
  return { params: { email_id: id } }
}

async function emailOfAdmin({ world: { admin }, unique }: Asking) {
  const { id } = await addEmail(admin, { email: `own-${unique}@example.com` }, someOrigin)
  return { params: { email_id: id, id: admin.id } }
}

const anEmail = ({ unique, world: { admin } }: Asking) => ({
  params: { id: admin.id },
  payload: { email: `${unique}@example.com` }
})

export const access: ResourceAccess = {
  instance: {
    'GET /api/v3/user/emails': { expected: SIGNED_IN_OR_READ_USER },
    'GET /api/v3/user/emails/:email_id': { expected: SIGNED_IN_OR_READ_USER, specimen: ownEmail },
    'POST /api/v3/user/emails': { expected: created(SIGNED_IN), specimen: anEmail },
    'DELETE /api/v3/user/emails/:email_id': { expected: SIGNED_IN, specimen: ownEmail },
    'GET /api/v3/users/:id/emails': { expected: ADMINISTRATOR_OR_READ_USER, specimen: emailOfAdmin },
    'POST /api/v3/users/:id/emails': { expected: created(ADMINISTRATOR), specimen: anEmail },
    'DELETE /api/v3/users/:id/emails/:email_id': { expected: ADMINISTRATOR, specimen: emailOfAdmin }
  }
}
