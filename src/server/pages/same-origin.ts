import type { FastifyRequest } from 'fastify'

/** Returns true when the browser proves that a page of this site sends the request. A missing header is not a proof. */
export function sameOrigin(request: FastifyRequest): boolean {
  const site = request.headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin'
  const { origin, host } = request.headers
  if (origin === undefined || host === undefined) return false
  try {
    return new URL(origin).host === host
  } catch {
    return false
  }
}
