// The same operations exist for projects and for groups.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Forbidden, NotFound } from '../../../errors.js'
import { Type } from '../../../lib/type.js'
import { addMember, removeMember, updateMember } from './members.js'
import { findMember, listMembers } from './members.queries.js'
import { MemberBody, MemberChange, MemberListQuery } from './members.schema.js'
import { Member, Revoked, viewMember } from './members.view.js'
import { REQUEST_SOURCES } from './request-sources.js'

export const memberRoutes: FastifyPluginAsyncTypebox = async app => {
  const tags = ['Members']
  for (const { of, path, params, member, members: can, source, administers } of REQUEST_SOURCES) {
    const removed = of === 'project' ? Type.Union([Member, Revoked]) : Member
    const one = { tags, params: member, response: { 200: Member } }

    app.get(
      `/${path}/:id/members`,
      {
        config: { can: can.read },
        schema: {
          tags,
          summary: `List the members of a ${of}`,
          description:
            'Only direct members: neither members of the group that owns the project, nor users who request access.',
          params,
          querystring: MemberListQuery,
          response: { 200: Type.Array(Member) }
        }
      },
      async (request, reply) => reply.page(await listMembers(source(request), request.query), viewMember)
    )

    app.get(
      `/${path}/:id/members/:user_id`,
      { config: { can: can.read }, schema: { ...one, summary: `Get a member of a ${of}` } },
      async request => {
        const found = await findMember(source(request), request.params.user_id)
        if (!found) throw new NotFound()
        return viewMember(found)
      }
    )

    app.post(
      `/${path}/:id/members`,
      {
        config: { can: can.write },
        schema: {
          tags,
          summary: `Add a member to a ${of}`,
          params,
          body: MemberBody,
          response: { 201: Member },
          errors: [409, 422]
        }
      },
      async (request, reply) =>
        reply.code(201).send(viewMember(await addMember(source(request), request.body, request.origin)))
    )

    app.put(
      `/${path}/:id/members/:user_id`,
      {
        config: { can: can.write },
        schema: { ...one, summary: `Change a member of a ${of}`, body: MemberChange, errors: [422] }
      },
      async request => {
        const { user_id: userId } = request.params
        return viewMember(await updateMember(source(request), userId, request.body, request.origin))
      }
    )

    app.delete(
      `/${path}/:id/members/:user_id`,
      {
        config: { can: can.remove },
        schema: {
          ...one,
          summary: `Remove a member from a ${of}`,
          description: 'Members may remove themselves. The last owner of a group cannot be removed.',
          response: { 200: removed },
          errors: [403]
        }
      },
      async request => {
        const { user_id: userId } = request.params
        const known = await findMember(source(request), userId)
        // Projects and groups respond differently here ("Members, groups, namespaces").
        if (!known && of === 'group') throw new NotFound(`Member: user_id:${userId}`)
        if (!known) return { message: 'Access revoked', id: userId }
        if (request.actor.user?.id !== userId && !administers(request)) throw new Forbidden()
        await removeMember(source(request), userId, request.origin)
        return viewMember(known)
      }
    )
  }
}
