import { created, EVERYBODY } from '../../../access/actors.js'
import type { ResourceAccess } from '../../../access/resource.js'

export const access: ResourceAccess = {
  instance: {
    'POST /api/v3/session': {
      expected: created(EVERYBODY),
      specimen: ({ world: { admin } }) => ({ payload: { login: admin.username, password: admin.password } })
    }
  }
}
