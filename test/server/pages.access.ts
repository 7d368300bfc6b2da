import { ADMINISTRATOR, EVERYBODY, statuses } from '../access/actors.js'
import type { ResourceAccess } from '../access/resource.js'

const REFUSED_FORM = { expected: statuses({ others: 303 }), specimen: () => ({ params: { id: 1 } }) }

/** Without proof from the browser that one of our own pages sends the form. */
const FOREIGN_FORM = { expected: statuses({ others: 403 }) }
const WRONG_LINK = { expected: statuses({ others: 403 }), specimen: () => ({ query: { token: 'x' } }) }

const UNKNOWN_PROVIDER = { expected: statuses({ others: 404 }), specimen: () => ({ params: { provider: 'none' } }) }

/** Pages and probes ignore credentials of the API. */
export const access: ResourceAccess = {
  instance: {
    'GET /users/sign_in': { expected: EVERYBODY },
    // Without proof from the browser that one of our own pages sends the form.
    'POST /users/sign_in': {
      expected: statuses({ others: 403 }),
      specimen: ({ world: { admin } }) => ({ payload: { login: admin.username, password: admin.password } })
    },
    // Nobody has entered a password before.
    'GET /users/sign_in/two_factor': { expected: statuses({ others: 303 }) },
    'POST /users/sign_in/two_factor': { expected: statuses({ others: 401 }) },
    'POST /users/sign_in/passkey': {
      expected: statuses({ others: 403 }),
      specimen: () => ({ payload: { passkey: 'x' } })
    },
    'POST /users/sign_out': { expected: statuses({ others: 303 }) },
    // The configuration has no such provider.
    'GET /users/auth/:provider': UNKNOWN_PROVIDER,
    'GET /users/auth/:provider/callback': UNKNOWN_PROVIDER,
    'POST /users/auth/:provider/backchannel_logout': {
      ...UNKNOWN_PROVIDER,
      specimen: () => ({ params: { provider: 'none' }, payload: { logout_token: 'x' } })
    },
    'GET /users/sign_up': { expected: EVERYBODY },
    'GET /users/password/new': { expected: EVERYBODY },
    'GET /users/confirmation/new': { expected: EVERYBODY },
    'POST /users/sign_up': FOREIGN_FORM,
    'POST /users/password/new': FOREIGN_FORM,
    'POST /users/confirmation/new': FOREIGN_FORM,
    'POST /users/first_administrator': FOREIGN_FORM,
    'POST /users/sign_up/confirm': FOREIGN_FORM,
    'POST /users/password/edit': FOREIGN_FORM,
    'POST /users/confirmation': FOREIGN_FORM,
    'GET /users/first_administrator': WRONG_LINK,
    'GET /users/sign_up/confirm': WRONG_LINK,
    'GET /users/password/edit': WRONG_LINK,
    'GET /users/confirmation': WRONG_LINK,
    'GET /invitations': WRONG_LINK,
    'POST /invitations': FOREIGN_FORM,
    'POST /invitations/sign_up': FOREIGN_FORM,
    'GET /assets/gitstead.css': { expected: EVERYBODY },
    'GET /assets/gitstead.js': { expected: EVERYBODY },
    'GET /assets/icon.svg': { expected: EVERYBODY },
    'GET /assets/broadcasts.css': { expected: EVERYBODY },
    'POST /oauth/authorize': REFUSED_FORM,
    'DELETE /oauth/authorize': REFUSED_FORM,
    // Without parameters.
    'GET /oauth/authorize': { expected: statuses({ others: 401 }) },
    'POST /oauth/token': { expected: statuses({ others: 401 }) },
    'POST /oauth/revoke': { expected: statuses({ others: 401 }) },
    // It reads the token where OAuth tokens belong.
    'GET /oauth/token/info': { expected: statuses({ others: 401 }) },
    'GET /.well-known/openid-configuration': { expected: EVERYBODY },
    'GET /oauth/discovery/keys': { expected: EVERYBODY },
    // Without a link from a mail.
    'GET /-/unsubscribe': { expected: statuses({ others: 404 }) },
    'POST /-/unsubscribe': { expected: statuses({ others: 404 }) },
    'GET /-/health': { expected: EVERYBODY },
    'GET /-/readiness': { expected: EVERYBODY },
    'GET /-/metrics': { expected: ADMINISTRATOR }
  }
}
