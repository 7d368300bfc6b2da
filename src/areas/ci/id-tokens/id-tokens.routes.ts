// The issuer and its key for verifiers of `id_tokens` (OpenID Connect Discovery).
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { publicUrl } from '../../../config.js'
import { CLAIMS } from './id-tokens.js'
import { ALGORITHM, signingKey } from './signing-key.js'

const KEYS = '/oauth/discovery/keys'

const open = { config: { public: true as const }, schema: { hide: true } }

/** Seconds for which a verifier may cache a response. */
const keep = (reply: FastifyReply) => reply.header('cache-control', 'public, max-age=3600')

export const idTokenRoutes: FastifyPluginAsync = async app => {
  // Users do not sign in with such tokens, so the document names no endpoints for that.
  app.get('/.well-known/openid-configuration', open, async (_request, reply) =>
    keep(reply).send({
      issuer: publicUrl(),
      jwks_uri: `${publicUrl()}${KEYS}`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [ALGORITHM],
      scopes_supported: ['openid'],
      claims_supported: CLAIMS
    })
  )

  app.get(KEYS, open, async (_request, reply) => {
    const { id, publicKey } = await signingKey()
    return keep(reply).send({ keys: [{ kty: 'RSA', use: 'sig', alg: ALGORITHM, kid: id, ...publicKey }] })
  })
}
