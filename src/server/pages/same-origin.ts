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

/**
 * Returns true when the browser says that a script or an element of another origin sends the request. A link that its user
 * follows is not such a request.
 */
export function isOtherOrigin(request: FastifyRequest): boolean {
  const { origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode } = request.headers
  if (site === undefined && origin === undefined) return false
  return site !== 'none' && mode !== 'navigate' && !sameOrigin(request)
}
