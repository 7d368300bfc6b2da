import { createApplication } from '../../../../src/areas/people/credentials/oauth-applications.js'
import { ADMINISTRATOR, created } from '../../../access/actors.js'
import type { ResourceAccess } from '../../../access/resource.js'
import { someOrigin } from '../../../helpers/factory.js'

const body = { name: 'board', redirect_uri: 'https://board.example.org/callback' }

export const access: ResourceAccess = {
  instance: {
    'GET /api/v3/applications': { expected: ADMINISTRATOR },
    'POST /api/v3/applications': { expected: created(ADMINISTRATOR), specimen: () => ({ payload: body }) },
    'DELETE /api/v3/applications/:id': {
      expected: ADMINISTRATOR,
      specimen: async () => ({ params: { id: (await createApplication(body, someOrigin)).row.id } })
    }
  }
}
