// The accounts at providers with which a user can sign in.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { askerOf } from '../../../access/actor.js'
import { identityByPassword } from '../../../areas/people/credentials/password-sign-in.js'
import { disconnect, identitiesOf, LastWay, linkIdentity } from '../../../areas/people/identity/links.js'
import { config } from '../../../config.js'
import { Conflict, Invalid, NotFound, Unavailable } from '../../../errors.js'
import { type Static, Type } from '../../../lib/type.js'
import { ProviderAway, ProviderRefusal } from '../../../oidc/failures.js'
import { providers, requireProvider } from '../../../oidc/provider.js'
import { SESSION_COOKIE } from '../../plugins/authenticate.js'
import { UNLINKED } from '../identity/intents.js'
import { openProvider } from '../identity/leave-provider.js'
import { IDENTITIES, wayTo } from '../identity/provider-sign-in.js'
import { unseal, unset } from '../identity/sealed-cookie.js'
import { showOwn } from './menu.js'
import { confirm, isFresh } from './two-factor.js'

const Params = Type.Object({ provider: Type.String({ maxLength: 64 }) })

const Confirmed = Type.Object({ confirmation: Type.Optional(Type.String({ maxLength: 1024 })) })

const DirectoryLogin = Type.Object({
  login: Type.Optional(Type.String({ maxLength: 255 })),
  password: Type.Optional(Type.String({ maxLength: 1024 })),
  confirmation: Type.Optional(Type.String({ maxLength: 1024 }))
})

const UNCONFIRMED = 'The password or code is wrong. You can also sign out, sign in again, and then change this'
const DIRECTORY = 'Only an administrator disconnects an account of a directory'
const LAST_WAY = 'You could not sign in without it: set a password first, or connect another account'

export const identityPages: FastifyPluginAsyncTypebox = async app => {
  const read = { config: { can: 'account.read' as const } }
  const write = { config: { can: 'account.write' as const } }
  const change = { ...write, schema: { params: Params, body: Confirmed } }

  app.get(IDENTITIES, read, (request, reply) => showIdentities(request, reply))

  app.post(`${IDENTITIES}/:provider/connect`, change, async (request, reply) => {
    const provider = requireProvider(request.params.provider)
    if (!(await isConfirmed(request))) return showIdentities(request, reply.code(400), UNCONFIRMED)
    try {
      const url = await wayTo(provider, reply, { connect: askerOf(request.actor).id })
      return await openProvider(reply, provider, url)
    } catch (error) {
      if (!(error instanceof ProviderAway || error instanceof ProviderRefusal)) throw error
      return showIdentities(request, reply.code(error instanceof ProviderAway ? 503 : 409), error.message)
    }
  })

  app.post(
    `${IDENTITIES}/:provider/password`,
    { ...write, schema: { params: Params, body: DirectoryLogin } },
    async (request, reply) => {
      const { params, body, address, origin } = request
      const { login = '', password = '' } = body
      const refuse = (status: number, problem: string) => showIdentities(request, reply.code(status), problem)
      if (!isDirectory(params.provider)) throw new NotFound('Directory')
      if (!(await isConfirmed(request))) return refuse(400, UNCONFIRMED)
      try {
        const identity = await identityByPassword(params.provider, { login, password }, address)
        if (!identity) return await refuse(401, 'The name or the password there is wrong')
        await linkIdentity(askerOf(request.actor), identity, origin)
      } catch (error) {
        if (!(error instanceof Conflict || error instanceof Unavailable)) throw error
        return refuse(error instanceof Conflict ? 409 : 503, error.message)
      }
      return reply.redirect(IDENTITIES, 303)
    }
  )

  app.post(`${IDENTITIES}/:provider/disconnect`, change, async (request, reply) => {
    const user = askerOf(request.actor)
    const { provider } = request.params
    if (isDirectory(provider)) return showIdentities(request, reply.code(409), DIRECTORY)
    if (!(await isConfirmed(request))) return showIdentities(request, reply.code(400), UNCONFIRMED)
    try {
      await disconnect(user, provider, request.origin, request.cookies[SESSION_COOKIE])
    } catch (error) {
      if (error instanceof LastWay) return showIdentities(request, reply.code(409), LAST_WAY)
      throw error
    }
    return reply.redirect(IDENTITIES, 303)
  })

  // Here come people who have signed in with a provider as somebody whom nobody knew, and then with their account.
  app.get(`${IDENTITIES}/link`, read, async (request, reply) => {
    const found = unseal(request, UNLINKED)
    if (!found) return reply.redirect(IDENTITIES, 303)
    const { username } = askerOf(request.actor)
    return showOwn(request, reply, 'link-identity', {
      title: 'Connect these accounts?',
      label: labelOf(found.provider),
      known: found.known,
      username,
      fresh: await isFresh(request)
    })
  })

  app.post(`${IDENTITIES}/link`, { ...write, schema: { body: Confirmed } }, async (request, reply) => {
    if (!(await isConfirmed(request))) return showIdentities(request, reply.code(400), UNCONFIRMED)
    const found = unseal(request, UNLINKED)
    unset(reply, UNLINKED)
    if (!found)
      return showIdentities(
        request,
        reply.code(409),
        'That took too long: connect the account with a button of this page'
      )
    try {
      await linkIdentity(askerOf(request.actor), found, request.origin)
    } catch (error) {
      if (!(error instanceof Conflict)) throw error
      return showIdentities(request, reply.code(409), error.message)
    }
    return reply.redirect(IDENTITIES, 303)
  })
}

/** An account at a provider opens this one, without its second factor, so somebody at an open browser must not connect one. */
async function isConfirmed(request: FastifyRequest<{ Body: Static<typeof Confirmed> }>): Promise<boolean> {
  try {
    await confirm(request as FastifyRequest, request.body.confirmation)
    return true
  } catch (error) {
    if (error instanceof Invalid) return false
    throw error
  }
}

/** Without the connection, the directory would no longer block the account when its owner leaves. */
const isDirectory = (provider: string): boolean => Object.hasOwn(config().identity.ldap, provider)

/** The name that people know; a provider that was removed from the configuration has only its key. */
function labelOf(name: string): string {
  const { oidc, ldap } = config().identity
  return oidc[name]?.label ?? ldap[name]?.label ?? name
}

async function showIdentities(request: FastifyRequest, reply: FastifyReply, problem?: string) {
  const known = await identitiesOf(askerOf(request.actor).id)
  const isKnown = (name: string) => known.some(({ provider }) => provider === name)
  return showOwn(request, reply, 'identities', {
    title: 'Connected accounts',
    ...(problem !== undefined && { problem: `${problem}.` }),
    identities: known.map(({ provider, extern_uid }) => ({
      provider,
      label: labelOf(provider),
      extern_uid,
      stays: isDirectory(provider)
    })),
    fresh: await isFresh(request),
    others: providers().filter(({ name }) => !isKnown(name)),
    directories: Object.keys(config().identity.ldap)
      .filter(name => !isKnown(name))
      .map(name => ({ name, label: labelOf(name) }))
  })
}
