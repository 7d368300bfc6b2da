// Directories have their own tokens. A client without one, or with another credential, gets the same answer.
import { statuses } from '../../../access/actors.js'
import type { ResourceAccess } from '../../../access/resource.js'

const refused = {
  expected: statuses({ others: 401 }),
  specimen: () => ({ params: { kind: 'Other', id: 1 }, payload: {} })
}
const read = { expected: statuses({ others: 401 }), specimen: () => ({ params: { kind: 'Other', id: 1 } }) }

export const access: ResourceAccess = {
  instance: {
    'GET /scim/v2/ServiceProviderConfig': read,
    'GET /scim/v2/ResourceTypes': read,
    'GET /scim/v2/ResourceTypes/:id': read,
    'GET /scim/v2/Schemas': read,
    'GET /scim/v2/Schemas/:id': read,
    'POST /scim/v2/Bulk': refused,
    'GET /scim/v2/Users': read,
    'POST /scim/v2/Users': refused,
    'POST /scim/v2/Users/.search': refused,
    'GET /scim/v2/Users/:id': read,
    'PUT /scim/v2/Users/:id': refused,
    'PATCH /scim/v2/Users/:id': refused,
    'DELETE /scim/v2/Users/:id': read,
    'GET /scim/v2/Groups': read,
    'POST /scim/v2/Groups': refused,
    'POST /scim/v2/Groups/.search': refused,
    'GET /scim/v2/Groups/:id': read,
    'PUT /scim/v2/Groups/:id': refused,
    'PATCH /scim/v2/Groups/:id': refused,
    'DELETE /scim/v2/Groups/:id': read,
    'GET /scim/v2/:kind': read,
    'POST /scim/v2/:kind': refused,
    'PUT /scim/v2/:kind': refused,
    'PATCH /scim/v2/:kind': refused,
    'DELETE /scim/v2/:kind': read,
    'GET /scim/v2/:kind/:id': read,
    'POST /scim/v2/:kind/:id': refused,
    'PUT /scim/v2/:kind/:id': refused,
    'PATCH /scim/v2/:kind/:id': refused,
    'DELETE /scim/v2/:kind/:id': read
  }
}
