import type { FastifyReply } from 'fastify'

/** Adds names of request headers on which the answer depends. */
export function addVary(reply: FastifyReply, names: string): void {
  const before = reply.getHeader('vary')
  reply.header('vary', before === undefined ? names : `${before}, ${names}`)
}
