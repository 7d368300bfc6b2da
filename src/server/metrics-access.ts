// Administrators may read the metrics. So may the addresses of `metrics.allow`, without credentials.
import type { FastifyRequest } from 'fastify'
import { authorize } from '../access/authorize.js'
import { config } from '../config.js'
import { Misconfigured } from '../errors.js'
import { isWithin, parseRanges, type Range } from '../lib/address.js'
import { findActor } from './plugins/authenticate.js'

/** The ranges of `metrics.allow`. Throws Misconfigured when one of the texts is not a range. */
export function metricsRanges(): readonly Range[] {
  try {
    return parseRanges(config().metrics.allow)
  } catch (error) {
    throw new Misconfigured(`configuration: metrics.allow: ${error instanceof Error ? error.message : error}`)
  }
}

/** Throws Unauthorized or Forbidden unless the client may read the metrics. */
export async function requireMetricsAccess(request: FastifyRequest, ranges: readonly Range[]): Promise<void> {
  if (ranges.length > 0 && isWithin(ranges, request.address)) return
  authorize(await findActor(request), 'job.read')
}
