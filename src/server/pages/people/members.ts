// The members of projects and groups, with the forms of those who may change them.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { addMember, removeMember, updateMember } from '../../../areas/people/members/members.js'
import { findMember, listMembers } from '../../../areas/people/members/members.queries.js'
import { MemberChange, MemberListQuery } from '../../../areas/people/members/members.schema.js'
import { viewMember } from '../../../areas/people/members/members.view.js'
import { REQUEST_SOURCES } from '../../../areas/people/members/request-sources.js'
import { listUsersInShort } from '../../../areas/people/users/users.queries.js'
import { invite, revokeInvitation } from '../../../areas/reach/accounts/invitations/invitations.js'
import { listInvitations } from '../../../areas/reach/accounts/invitations/invitations.queries.js'
import { config } from '../../../config.js'
import { Forbidden, NotFound, TooManyRequests } from '../../../errors.js'
import { DEVELOPER, GUEST, MASTER, OWNER, REPORTER } from '../../../lib/levels.js'
import { Type } from '../../../lib/type.js'
import { path } from '../components.js'
import { show } from '../page-routes.js'
import { projectPath } from '../place.js'
import { type Refusals, refusalsOf } from '../refusals.js'

const NewMember = Type.Object({
  username: Type.String({ maxLength: 255 }),
  access_level: MemberChange.properties.access_level,
  expires_at: MemberChange.properties.expires_at
})
const InvitationBody = Type.Object({
  email: Type.String({ maxLength: 1024 }),
  access_level: MemberChange.properties.access_level,
  expires_at: MemberChange.properties.expires_at
})
const InvitationParams = Type.Object({ invitation_id: Type.Integer({ minimum: 1, maximum: 4294967295 }) })
const MemberParams = Type.Object({ user_id: Type.Integer() })

const LEVELS = { project: [GUEST, REPORTER, DEVELOPER, MASTER], group: [GUEST, REPORTER, DEVELOPER, MASTER, OWNER] }

interface Shown {
  readonly query?: { readonly page?: number; readonly query?: string }
  readonly entered?: { readonly username: string; readonly access_level: number }
  readonly invited?: { readonly email: string; readonly access_level: number }
  readonly refusals?: Refusals
}

export const memberPages: FastifyPluginAsyncTypebox = async app => {
  for (const { of, members: can, source, administers } of REQUEST_SOURCES) {
    const list = of === 'project' ? '/:namespace/:project/project_members' : '/groups/:id/group_members'

    const showMembers = async (request: FastifyRequest, reply: FastifyReply, { query = {}, ...form }: Shown) => {
      const page = await listMembers(source(request), query)
      return show(request, reply, 'people/members', {
        title: 'Members',
        page,
        members: page.items.map(viewMember),
        query,
        action: pathOf(request),
        group: groupOf(request),
        levels: LEVELS[of],
        mayChange: administers(request),
        mayInvite: administers(request) && config().identity.accounts.invitations,
        invitations: administers(request) ? await listInvitations(source(request)) : [],
        ...form
      })
    }

    app.get(list, { config: { can: can.read }, schema: { querystring: MemberListQuery } }, (request, reply) =>
      showMembers(request, reply, { query: request.query })
    )

    app.post(list, { config: { can: can.write }, schema: { body: NewMember } }, async (request, reply) => {
      const { username, ...terms } = request.body
      try {
        const [user] = (await listUsersInShort({ username })).items
        if (!user) return showMembers(request, reply.code(400), { entered: request.body, refusals: UNKNOWN })
        await addMember(source(request), { user_id: user.id, ...terms }, request.origin)
        return reply.redirect(pathOf(request), 303)
      } catch (error) {
        return showMembers(request, reply.code(400), { entered: request.body, refusals: refusalsOf(error) })
      }
    })

    const invitations = `${list}/invitations`
    app.post(invitations, { config: { can: can.write }, schema: { body: InvitationBody } }, async (request, reply) => {
      const { email: address, ...terms } = request.body
      try {
        await invite(source(request), { address, ...terms }, request.origin)
        return reply.redirect(pathOf(request), 303)
      } catch (error) {
        if (error instanceof TooManyRequests) throw error
        return showMembers(request, reply.code(400), { invited: request.body, refusals: refusalsOf(error) })
      }
    })

    app.post(
      `${invitations}/:invitation_id/revoke`,
      { config: { can: can.write }, schema: { params: InvitationParams } },
      async (request, reply) => {
        await revokeInvitation(source(request), request.params.invitation_id, request.origin)
        return reply.redirect(pathOf(request), 303)
      }
    )

    const one = `${list}/:user_id`
    app.post(
      one,
      { config: { can: can.write }, schema: { params: MemberParams, body: MemberChange } },
      async (request, reply) => {
        const { expires_at: end = '', access_level } = request.body
        try {
          await updateMember(source(request), request.params.user_id, { access_level, expires_at: end }, request.origin)
          return reply.redirect(pathOf(request), 303)
        } catch (error) {
          return showMembers(request, reply.code(400), { refusals: refusalsOf(error) })
        }
      }
    )

    app.post(
      `${one}/remove`,
      { config: { can: can.remove }, schema: { params: MemberParams } },
      async (request, reply) => {
        const { user_id: userId } = request.params
        const isOwn = request.actor.user?.id === userId
        if (!(await findMember(source(request), userId))) throw new NotFound('Member')
        if (!isOwn && !administers(request)) throw new Forbidden()
        await removeMember(source(request), userId, request.origin)
        // Somebody who leaves a private place can no longer open it.
        return reply.redirect(isOwn ? '/' : pathOf(request), 303)
      }
    )
  }
}

const UNKNOWN = { username: 'nobody has this username' }

const pathOf = ({ project, group }: FastifyRequest): string =>
  project ? `${projectPath(project)}/project_members` : path('groups', group.path, 'group_members')

/** The group of a project, whose members are members of the project, too. */
const groupOf = ({ project }: FastifyRequest): string | undefined =>
  project?.namespace_kind === 'group' ? path('groups', project.namespace_path) : undefined
