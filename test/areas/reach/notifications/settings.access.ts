import { SIGNED_IN } from '../../../access/actors.js'
import { READ_GROUP, SEE_PROJECT } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'

const setting = () => ({ payload: { level: 'watch' } })

export const access: ResourceAccess = {
  instance: {
    'GET /api/v3/notification_settings': { expected: SIGNED_IN },
    'PUT /api/v3/notification_settings': { expected: SIGNED_IN, specimen: setting }
  },
  project: {
    'GET /api/v3/projects/:id/notification_settings': { expected: SEE_PROJECT() },
    'PUT /api/v3/projects/:id/notification_settings': { expected: SEE_PROJECT(), specimen: setting }
  },
  group: {
    'GET /api/v3/groups/:id/notification_settings': { expected: READ_GROUP },
    'PUT /api/v3/groups/:id/notification_settings': { expected: READ_GROUP, specimen: setting }
  }
}
