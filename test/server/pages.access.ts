import { ADMINISTRATOR, answering, EVERYBODY, statuses } from '../access/actors.js'
import type { ResourceAccess } from '../access/resource.js'

/** Pages and probes look at no credentials of the API. */
export const access: ResourceAccess = {
  instance: {
    'GET /': { expected: answering(302, EVERYBODY) },
    'GET /users/sign_in': { expected: EVERYBODY },
    // Without the proof of a browser that one of our own pages sends it.
    'POST /users/sign_in': {
      expected: statuses({ others: 403 }),
      specimen: ({ world: { admin } }) => ({ payload: { login: admin.username, password: admin.password } })
    },
    'POST /users/sign_out': { expected: statuses({ others: 303 }) },
    'GET /-/health': { expected: EVERYBODY },
    'GET /-/readiness': { expected: EVERYBODY },
    'GET /-/metrics': { expected: ADMINISTRATOR }
  }
}
