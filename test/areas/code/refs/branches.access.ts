import { administer, READ_COMMIT, write } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'

/** Each actor creates and deletes a branch of its own. */
const own = ({ actor }: Asking) => ({ params: { branch: `by-${actor}` } })
const master = () => ({ params: { branch: 'master' } })

export const access: ResourceAccess = {
  project: {
    'GET /api/v3/projects/:id/repository/branches': { expected: READ_COMMIT },
    'GET /api/v3/projects/:id/repository/branches/:branch': { expected: READ_COMMIT, specimen: master },
    'POST /api/v3/projects/:id/repository/branches': {
      expected: write(201),
      specimen: ({ actor }) => ({ payload: { branch_name: `by-${actor}`, ref: 'master' } })
    },
    'DELETE /api/v3/projects/:id/repository/branches/:branch': { expected: write(200), specimen: own },
    'DELETE /api/v3/projects/:id/repository/merged_branches': { expected: write(200) },
    'PUT /api/v3/projects/:id/repository/branches/:branch/protect': {
      expected: administer('master'),
      // The branch is protected already, without the flag.
      specimen: () => ({ ...master(), payload: { developers_can_merge: true } })
    },
    'PUT /api/v3/projects/:id/repository/branches/:branch/unprotect': {
      expected: administer('master'),
      specimen: master
    }
  }
}
