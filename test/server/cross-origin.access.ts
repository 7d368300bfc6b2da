import { statuses } from '../access/actors.js'
import type { ResourceAccess } from '../access/resource.js'

export const access: ResourceAccess = {
  instance: {
    // A preflight never gets here. Every other path is unknown: wrong credentials are refused first.
    'OPTIONS *': { expected: statuses({ blocked: 401, readUser: 401, wrong: 401, others: 404 }) }
  }
}
