// The bytes of bodies, as they were sent: of forms, and of small requests of git. A request may have to be made again elsewhere, and the
// validation drops fields of a form, such as the token that proves where it comes from.
import type { FastifyRequest } from 'fastify'

export const sentBodies = new WeakMap<FastifyRequest, Buffer>()
