// The second factors of the visitor: an authenticator app, passkeys and recovery codes.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import encodeQR from 'qr'
import { askerOf } from '../../../access/actor.js'
import { isFreshSession } from '../../../areas/people/credentials/sessions.js'
import { addApp, knownApp, type NewApp, newApp, removeApp } from '../../../areas/people/factors/authenticator-app.js'
import { factorsOf } from '../../../areas/people/factors/factors.js'
import {
  addPasskey,
  creationOptions,
  havePasskeys,
  passkeysOf,
  removePasskey,
  renamePasskey
} from '../../../areas/people/factors/passkeys.js'
import { renewRecoveryCodes } from '../../../areas/people/factors/recovery-codes.js'
import { confirmOwner } from '../../../areas/people/factors/second-step.js'
import { publicUrl } from '../../../config.js'
import { Forbidden, TooManyRequests } from '../../../errors.js'
import { Type } from '../../../lib/type.js'
import { SESSION_COOKIE } from '../../plugins/authenticate.js'
import { SET_UP as PATH } from '../page-routes.js'
import { type Refusals, refusalsOf } from '../refusals.js'
import { showOwn } from './menu.js'

const APP = `${PATH}/app`
const PASSKEYS = `${PATH}/passkeys`
const CODES = `${PATH}/recovery_codes`

/** Seconds after signing in, in which nobody has to prove again who they are. */
const FRESH_S = 600

const Confirmation = Type.Optional(Type.String({ maxLength: 1024 }))
const Confirmed = Type.Object({ confirmation: Confirmation })
const AppBody = Type.Object({
  secret: Type.String({ maxLength: 255 }),
  proof: Type.String({ maxLength: 255 }),
  code: Type.Optional(Type.String({ maxLength: 255 })),
  confirmation: Confirmation
})
const PasskeyBody = Type.Object({
  name: Type.Optional(Type.String({ maxLength: 1024 })),
  passkey: Type.Optional(Type.String({ maxLength: 16_384 })),
  confirmation: Confirmation
})
const Named = Type.Object({ name: Type.Optional(Type.String({ maxLength: 1024 })) })
const PasskeyParams = Type.Object({ id: Type.Integer({ minimum: 1, maximum: 4_294_967_295 }) })

const reads = { can: 'account.read' as const, opensWithoutFactor: true as const }
const writes = { can: 'account.write' as const, opensWithoutFactor: true as const }

export const twoFactorPages: FastifyPluginAsyncTypebox = async app => {
  app.get(PATH, { config: reads }, (request, reply) => showFactors(request, reply))

  app.get(APP, { config: reads }, async (request, reply) =>
    showNewApp(request, reply, await newApp(askerOf(request.actor), host()))
  )

  app.post(APP, { config: writes, schema: { body: AppBody } }, async (request, reply) => {
    const owner = askerOf(request.actor)
    const { secret, code = '', confirmation } = request.body
    const made = await knownApp(owner, request.body, host())
    if (!made) throw new Forbidden('Open the page again, and set up the app from there')
    try {
      await confirm(request, confirmation)
      const codes = await addApp(owner, { secret, code: code.replaceAll(' ', '') }, request.origin)
      return showCodes(request, reply, codes, 'Your authenticator app is set up.')
    } catch (error) {
      return showNewApp(request, reply.code(400), made, refusalsIn(error))
    }
  })

  app.post(`${APP}/delete`, { config: writes, schema: { body: Confirmed } }, async (request, reply) => {
    try {
      await confirm(request, request.body.confirmation)
    } catch (error) {
      return showFactors(request, reply.code(400), refusalsIn(error))
    }
    await removeApp(askerOf(request.actor), request.origin)
    return reply.redirect(PATH, 303)
  })

  app.post(PASSKEYS, { config: writes, schema: { body: PasskeyBody } }, async (request, reply) => {
    const { name = 'Passkey', passkey = '', confirmation } = request.body
    try {
      await confirm(request, confirmation)
      const made = { name: name.trim(), answer: passkey, browser: cookieOf(request) }
      const codes = await addPasskey(askerOf(request.actor), made, request.origin)
      return showCodes(request, reply, codes, 'Your passkey is added.')
    } catch (error) {
      return showFactors(request, reply.code(400), refusalsIn(error))
    }
  })

  app.post(
    `${PASSKEYS}/:id/rename`,
    { config: writes, schema: { params: PasskeyParams, body: Named } },
    async (request, reply) => {
      const { name = '' } = request.body
      try {
        await renamePasskey(askerOf(request.actor), request.params.id, name.trim(), request.origin)
      } catch (error) {
        return showFactors(request, reply.code(400), refusalsIn(error))
      }
      return reply.redirect(PATH, 303)
    }
  )

  app.post(
    `${PASSKEYS}/:id/delete`,
    { config: writes, schema: { params: PasskeyParams, body: Confirmed } },
    async (request, reply) => {
      try {
        await confirm(request, request.body.confirmation)
      } catch (error) {
        return showFactors(request, reply.code(400), refusalsIn(error))
      }
      await removePasskey(askerOf(request.actor), request.params.id, request.origin)
      return reply.redirect(PATH, 303)
    }
  )

  app.post(CODES, { config: writes, schema: { body: Confirmed } }, async (request, reply) => {
    try {
      await confirm(request, request.body.confirmation)
      const codes = await renewRecoveryCodes(askerOf(request.actor), request.origin)
      return showCodes(request, reply, codes, 'Your old recovery codes do not work any more.')
    } catch (error) {
      return showFactors(request, reply.code(400), refusalsIn(error))
    }
  })
}

const host = (): string => new URL(publicUrl()).hostname

const cookieOf = ({ cookies }: FastifyRequest): string => cookies[SESSION_COOKIE] ?? ''

export const isFresh = (request: FastifyRequest): Promise<boolean> => isFreshSession(cookieOf(request), FRESH_S)

/** Throws Invalid unless the visitor has signed in a moment ago, or knows the password or a code. */
export async function confirm(request: FastifyRequest, text = ''): Promise<void> {
  if (!(await isFresh(request))) await confirmOwner(askerOf(request.actor), text, request.origin)
}

/** How long to wait after many wrong codes is a page of its own. */
function refusalsIn(error: unknown): Refusals {
  if (error instanceof TooManyRequests) throw error
  return refusalsOf(error)
}

async function showFactors(request: FastifyRequest, reply: FastifyReply, refusals: Refusals = {}) {
  const user = askerOf(request.actor)
  const possible = havePasskeys()
  const [factors, passkeys, fresh] = await Promise.all([factorsOf(user.id), passkeysOf(user.id), isFresh(request)])
  return showOwn(request, reply, 'two-factor', {
    title: 'Second factor',
    factors,
    passkeys,
    fresh,
    refusals,
    create: possible ? await creationOptions(user, cookieOf(request)) : undefined
  })
}

async function showNewApp(request: FastifyRequest, reply: FastifyReply, made: NewApp, refusals: Refusals = {}) {
  const [{ app }, fresh] = await Promise.all([factorsOf(askerOf(request.actor).id), isFresh(request)])
  return showOwn(request, reply, 'new-app', {
    title: 'Set up an authenticator app',
    made,
    replaces: app !== null,
    qr: encodeQR(made.uri, 'svg'),
    fresh,
    refusals
  })
}

/** Shows new recovery codes, which no other page shows; without any, the factors. */
async function showCodes(request: FastifyRequest, reply: FastifyReply, codes: readonly string[], says: string) {
  if (codes.length === 0) return reply.redirect(PATH, 303)
  return showOwn(request, reply.code(201), 'recovery-codes', {
    title: 'Your recovery codes',
    says,
    codes,
    // This visitor has one now.
    factorDueAt: undefined
  })
}
