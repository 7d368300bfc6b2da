import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { BadParameters } from '../../../errors.js'
import { parseMoment } from '../../../lib/moment.js'
import { Type } from '../../../lib/type.js'
import { listAuditEvents } from './audit.queries.js'
import { AuditListQuery } from './audit.schema.js'
import { AuditEvent, viewAuditEvent } from './audit.view.js'

export const auditRoutes: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'audit.read' as const }
  const schema = {
    tags: ['Audit'],
    summary: 'List audit events',
    description: 'Newest first.',
    querystring: AuditListQuery,
    response: { 200: Type.Array(AuditEvent) }
  }

  // Not specified: this route lists the audit events.
  app.get('/audit_events', { config, schema }, async ({ query }, reply) => {
    const { since, until, page, per_page, ...filter } = query
    const times = { since: momentOf('since', since), until: momentOf('until', until) }
    return reply.page(await listAuditEvents({ ...filter, ...times }, { page, per_page }), viewAuditEvent)
  })
}

function momentOf(name: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const moment = parseMoment(text)
  if (!moment) throw new BadParameters(`${name} is invalid`)
  return moment
}
