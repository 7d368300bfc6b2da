// The same operations exist for projects and for groups.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Paging } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { approveRequest, removeRequest, requestAccess } from './access-requests.js'
import { listAccessRequests } from './access-requests.queries.js'
import { AccessRequest, ApprovedRequest, viewAccessRequest, viewApproved } from './access-requests.view.js'
import { ApprovalBody } from './members.schema.js'
import { REQUEST_SOURCES } from './request-sources.js'

export const accessRequestRoutes: FastifyPluginAsyncTypebox = async app => {
  const tags = ['Access requests']
  for (const {
    of,
    path,
    params,
    member,
    requests: can,
    source,
    level,
    administers,
    takesRequests
  } of REQUEST_SOURCES) {
    app.get(
      `/${path}/:id/access_requests`,
      {
        config: { can: can.read },
        schema: {
          tags,
          summary: `List the users who request access to a ${of}`,
          params,
          querystring: Type.Object(Paging),
          response: { 200: Type.Array(AccessRequest) }
        }
      },
      async (request, reply) => reply.page(await listAccessRequests(source(request), request.query), viewAccessRequest)
    )

    app.post(
      `/${path}/:id/access_requests`,
      {
        config: { can: can.create },
        schema: {
          tags,
          summary: `Request access to a ${of}`,
          description: `Returns 403 when the ${of} accepts no requests, and when you are a member or have already requested access.`,
          params,
          response: { 201: AccessRequest },
          errors: [403]
        }
      },
      async (request, reply) => {
        const state = { enabled: takesRequests(request), level: level(request) }
        return reply.code(201).send(viewAccessRequest(await requestAccess(source(request), state, request.origin)))
      }
    )

    app.put(
      `/${path}/:id/access_requests/:user_id/approve`,
      {
        config: { can: can.approve },
        schema: {
          tags,
          summary: `Approve a request for access to a ${of}`,
          params: member,
          body: ApprovalBody,
          response: { 200: ApprovedRequest },
          errors: [422]
        }
      },
      async request => {
        const { params, body, origin } = request
        const approved = await approveRequest(source(request), params.user_id, body.access_level, origin)
        return viewApproved(approved.request, approved.member)
      }
    )

    app.delete(
      `/${path}/:id/access_requests/:user_id`,
      {
        config: { can: can.remove },
        schema: {
          tags,
          summary: `Deny a request for access to a ${of}, or withdraw your own`,
          params: member,
          response: { 200: AccessRequest },
          errors: [403]
        }
      },
      async request => {
        const { params, origin } = request
        return viewAccessRequest(await removeRequest(source(request), params.user_id, administers(request), origin))
      }
    )
  }
}
