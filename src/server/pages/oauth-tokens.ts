// The endpoints that OAuth applications call themselves.
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Pair } from '../../areas/people/credentials/oauth/grants.js'
import {
  exchange,
  readParameters,
  revoke,
  type TokenRequest,
  tokenInfo
} from '../../areas/people/credentials/oauth/provider.js'
import { bearerToken } from '../plugins/authenticate.js'

const open = { config: { public: true as const }, schema: { hide: true }, bodyLimit: 16_384 }

export const oauthTokenRoutes: FastifyPluginAsync = async app => {
  app.addHook('onSend', (_request, reply, _payload, done) => {
    reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' })
    done()
  })

  app.post('/oauth/token', open, async (request, reply) => send(reply, await exchange(readRequest(request))))

  app.post('/oauth/revoke', open, async (request, reply) => {
    await revoke(readRequest(request))
    return reply.send({})
  })

  app.get('/oauth/token/info', open, async request => {
    const { access_token, bearer_token } = readParameters(request.query)
    return tokenInfo(bearerToken(request.headers.authorization) ?? access_token ?? bearer_token, request.address)
  })
}

const readRequest = ({ query, body, headers, address }: FastifyRequest): TokenRequest => ({
  parameters: readParameters({ ...(query as object), ...(body as object) }),
  authorization: headers.authorization,
  address
})

/** Writes the answer in the form of the requirement. Decided: `expires_in` only for tokens that expire. */
const send = (reply: FastifyReply, { accessToken, refreshToken, scopes, createdAt, expiresAt }: Pair) =>
  reply.send({
    access_token: accessToken,
    token_type: 'bearer',
    ...(expiresAt && { expires_in: Math.round((expiresAt.getTime() - createdAt.getTime()) / 1000) }),
    ...(refreshToken !== undefined && { refresh_token: refreshToken }),
    scope: scopes.join(' '),
    created_at: Math.floor(createdAt.getTime() / 1000)
  })
