// The second step of the sign-in, and the sign-in with a passkey in place of the password.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { actorOf, originOf } from '../../access/actor.js'
import { counted } from '../../areas/ground/audit/sign-in-counts.js'
import type { SignIn } from '../../areas/people/credentials/credentials.js'
import { countWrongToken } from '../../areas/people/credentials/login-throttle.js'
import { noteSignIn } from '../../areas/people/credentials/sign-in-addresses.js'
import { signInByPasskey, userOfPasskey } from '../../areas/people/factors/passkeys.js'
import { type PendingSignIn, resumeSignIn } from '../../areas/people/factors/pending-sign-in.js'
import { takeCode } from '../../areas/people/factors/second-step.js'
import { Failure, Forbidden, TooManyRequests } from '../../errors.js'
import { Type } from '../../lib/type.js'
import { type Afterwards, finishSignIn, localPath, PENDING, SECOND_STEP, showSecondStep } from './complete-sign-in.js'
import { LARGEST_FORM } from './form-limit.js'
import { unseal, unset } from './identity/sealed-cookie.js'
import { isOwnOpenForm, knownBrowser } from './open-form.js'
import { messageOf, SIGN_IN, showProblem } from './page-routes.js'
import { refuseSignIn } from './sign-in.js'

const AfterwardsBody = {
  return_to: Type.Optional(Type.String({ maxLength: 8192 })),
  unsent: Type.Optional(Type.String()),
  authenticity_token: Type.Optional(Type.String({ maxLength: 255 }))
}
/** What a browser answers for a passkey, as JSON. */
const Answer = Type.String({ maxLength: 16_384 })
const StepBody = Type.Object({
  code: Type.Optional(Type.String({ maxLength: 255 })),
  passkey: Type.Optional(Answer),
  ...AfterwardsBody
})
const PasskeyBody = Type.Object({ passkey: Answer, ...AfterwardsBody })

const PASSKEY = `${SIGN_IN}/passkey`

/** An unsent form comes along as JSON, in which quotation marks are twice as long. */
const BODY_LIMIT = 2 * LARGEST_FORM

const NOT_FROM_HERE = 'Open this page and sign in there.'
const WRONG_PASSKEY = 'The passkey was refused. Try again.'
const WRONG_CODE = 'This code is wrong, or was used before. The app shows a new one every 30 seconds.'
const TOO_LATE = 'This took too long, or your account has changed. Sign in again.'

export const secondStepRoutes: FastifyPluginAsyncTypebox = async app => {
  const config = { public: true as const, duringMaintenance: true as const }
  const hide = { hide: true }
  app.setErrorHandler((error, request, reply) => showProblem(error, request, reply, SIGN_IN))

  app.get(SECOND_STEP, { config, schema: hide }, async (request, reply) => {
    const returnTo = localPath((request.query as { return_to?: unknown }).return_to)
    const step = await stepOf(request)
    return step ? showSecondStep(request, reply, { ...step, returnTo }) : reply.redirect(signInPath(returnTo), 303)
  })

  app.post(
    SECOND_STEP,
    { config, bodyLimit: BODY_LIMIT, schema: { ...hide, body: StepBody } },
    async (request, reply) => {
      const after = afterwardsOf(request)
      const step = await stepOf(request)
      if (!step) return refuseSignIn(request, reply.code(401), { ...after, problem: TOO_LATE })
      const refuse = (status: number, problem: string) =>
        showSecondStep(request, reply.code(status), { ...step, ...after, problem })
      if (!isOwnOpenForm(request)) return refuse(403, NOT_FROM_HERE)
      const factor = await counted('second_step', () => factorIn(request, request.body, step)).catch(asRefusal)
      if (factor instanceof Failure) return refuse(statusOf(factor, reply), wordsOf(factor))
      if (factor === null) return refuse(401, request.body.passkey ? WRONG_PASSKEY : WRONG_CODE)
      unset(reply, PENDING)
      await noteSignIn(step.signIn.user.id, request.address)
      return finishSignIn(request, reply, { ...step.signIn, factor }, after)
    }
  )

  app.post(
    PASSKEY,
    { config, bodyLimit: BODY_LIMIT, schema: { ...hide, body: PasskeyBody } },
    async (request, reply) => {
      const { passkey } = request.body
      const after = afterwardsOf(request)
      const refuse = (status: number, problem: string) =>
        refuseSignIn(request, reply.code(status), { ...after, problem })
      const browser = knownBrowser(request)
      if (browser === undefined || !isOwnOpenForm(request)) return refuse(403, NOT_FROM_HERE)
      const signIn = await counted('passkey', () => byPasskey(request, passkey, browser)).catch(asRefusal)
      if (signIn instanceof Failure) return refuse(statusOf(signIn, reply), wordsOf(signIn))
      if (signIn === null) return refuse(401, WRONG_PASSKEY)
      await noteSignIn(signIn.user.id, request.address)
      return finishSignIn(request, reply, signIn, after)
    }
  )
}

/** Another site must not put words into the form that its visitor is asked to send. */
const afterwardsOf = (request: FastifyRequest<{ Body: { return_to?: string; unsent?: string } }>): Afterwards => ({
  returnTo: localPath(request.body.return_to),
  unsent: isOwnOpenForm(request as FastifyRequest) ? request.body.unsent : undefined
})

interface Step {
  readonly signIn: SignIn
  readonly pending: PendingSignIn
}

/** The sign-in that this browser has begun; null when it has ended. */
async function stepOf(request: FastifyRequest): Promise<Step | null> {
  const pending = unseal(request, PENDING)
  const signIn = pending && (await resumeSignIn(pending))
  return pending && signIn ? { pending, signIn } : null
}

/** Returns the name of the factor that a form proves; null when it proves none. Throws TooManyRequests. */
async function factorIn(
  { address }: FastifyRequest,
  { code = '', passkey }: { readonly code?: string; readonly passkey?: string },
  { signIn: { user }, pending }: Step
): Promise<string | null> {
  const origin = originOf(actorOf(user, 'password'), address)
  if (!passkey) return takeCode(user, code, origin)
  const answered = { purpose: 'passkey.second_step' as const, answer: passkey, browser: pending.id, userId: user.id }
  if ((await userOfPasskey(answered, origin)) !== null) return 'passkey'
  countWrongToken(address)
  return null
}

async function byPasskey({ address }: FastifyRequest, answer: string, browser: string): Promise<SignIn | null> {
  const signIn = await signInByPasskey(answer, browser, address)
  if (!signIn) countWrongToken(address)
  return signIn
}

const signInPath = (returnTo: string | undefined): string =>
  returnTo === undefined ? SIGN_IN : `${SIGN_IN}?${new URLSearchParams({ return_to: returnTo })}`

/** The pages show why a right answer is refused, and how long to wait after many wrong ones. */
function asRefusal(error: unknown): Forbidden | TooManyRequests {
  if (error instanceof Forbidden || error instanceof TooManyRequests) return error
  throw error
}

function statusOf(refusal: Forbidden | TooManyRequests, reply: FastifyReply): number {
  if (refusal instanceof Forbidden) return 403
  reply.header('retry-after', String(refusal.retryAfter))
  return 429
}

const wordsOf = (refusal: Forbidden | TooManyRequests): string =>
  refusal instanceof Forbidden ? `${refusal.reason}.` : messageOf(refusal)
