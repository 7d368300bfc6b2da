import { statuses } from '../access/actors.js'
import type { ResourceAccess } from '../access/resource.js'

export const access: ResourceAccess = {
  instance: {
    // A preflight never gets here. The router takes `*` for the path of a user, so the answer names its methods.
    'OPTIONS *': { expected: statuses({ blocked: 401, readUser: 401, wrong: 401, others: 204 }) }
  }
}
