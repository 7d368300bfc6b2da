// The account pages of the signed-in user. Others are sent to the sign-in page, because links in mails lead here.
import type { FastifyPluginAsync } from 'fastify'
import { Unauthorized } from '../../../errors.js'
import { showFailure, signInFor } from '../page-routes.js'
import { applicationPages } from './applications.js'
import { emailPages } from './emails.js'
import { identityPages } from './identities.js'
import { keyPages } from './keys.js'
import { notificationPages } from './notifications.js'
import { passwordPages } from './password.js'
import { profilePages } from './profile.js'
import { sessionPages } from './sessions.js'
import { todoPages } from './todos.js'
import { tokenPages } from './tokens.js'
import { twoFactorPages } from './two-factor.js'

export const accountPages: FastifyPluginAsync = async app => {
  app.setErrorHandler((error, request, reply) => {
    const reads = request.method === 'GET' || request.method === 'HEAD'
    if (error instanceof Unauthorized && reads && !request.actor.user) return reply.redirect(signInFor(request))
    return showFailure(error, request, reply)
  })
  for (const pages of [
    profilePages,
    passwordPages,
    twoFactorPages,
    keyPages,
    emailPages,
    identityPages,
    notificationPages,
    tokenPages,
    applicationPages,
    sessionPages,
    todoPages
  ])
    await app.register(pages)
}
