// The bytes of forms, as they were sent. A request may have to be made again elsewhere, and the validation drops fields, such as the
// token that proves where the form comes from.
import type { FastifyRequest } from 'fastify'

export const formBodies = new WeakMap<FastifyRequest, Buffer>()
