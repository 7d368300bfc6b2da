import { ADMINISTRATOR } from '../../../access/actors.js'
import type { ResourceAccess } from '../../../access/resource.js'

export const access: ResourceAccess = {
  instance: { 'GET /api/v3/audit_events': { expected: ADMINISTRATOR } }
}
