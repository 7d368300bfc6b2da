// Pages of branches, tags and releases, with their forms.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { may } from '../../../access/authorize.js'
import { pageOfBranches, pageOfTags } from '../../../areas/code/browsing/branch-pages.js'
import { createBranch, deleteBranch } from '../../../areas/code/refs/branches.js'
import { NewBranch } from '../../../areas/code/refs/branches.schema.js'
import { createRelease, updateRelease } from '../../../areas/code/refs/tags/releases.js'
import { createTag, deleteTag, findTag } from '../../../areas/code/refs/tags/tags.js'
import { NewTag, ReleaseBody } from '../../../areas/code/refs/tags/tags.schema.js'
import { Failure, NotHere } from '../../../errors.js'
import { type Static, Type } from '../../../lib/type.js'
import { visible } from '../../../lib/visible.js'
import { inPath } from '../components.js'
import { messageOf, show } from '../page-routes.js'
import { projectPath } from '../place.js'
import { textsHtml } from '../text/texts.js'
import { readStates } from './commit-states.js'
import { codePath, restOf } from './places.js'

const ListQuery = Type.Object({
  search: Type.Optional(Type.String({ maxLength: 255 })),
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 }))
})
type ListQuery = Static<typeof ListQuery>

/** What a visitor entered in a form that was refused, and why. */
interface Refused {
  readonly refused: string
  readonly entered: object
}

export const refPages: FastifyPluginAsyncTypebox = async app => {
  app.get(
    '/:namespace/:project/branches',
    { config: { can: 'branch.read' }, schema: { querystring: ListQuery } },
    (request, reply) => showBranches(request, reply, request.query)
  )

  app.post(
    '/:namespace/:project/branches',
    { config: { can: 'branch.write' }, schema: { body: NewBranch } },
    async (request, reply) => {
      const { project, body, origin } = request
      const made = await createBranch(project, body, origin).catch(refusal)
      if ('refused' in made) return showBranches(request, reply.code(400), {}, { ...made, entered: body })
      return reply.redirect(codePath(projectPath(project), 'tree', made.name), 303)
    }
  )

  app.post('/:namespace/:project/branches/delete/*', { config: { can: 'branch.write' } }, async (request, reply) => {
    await deleteBranch(request.project, restOf(request), request.origin)
    return reply.redirect(`${projectPath(request.project)}/branches`, 303)
  })

  app.get(
    '/:namespace/:project/tags',
    { config: { can: 'repository.read' }, schema: { querystring: ListQuery } },
    (request, reply) => showTags(request, reply, request.query)
  )

  app.post(
    '/:namespace/:project/tags',
    { config: { can: 'tag.write' }, schema: { body: NewTag } },
    async (request, reply) => {
      const { project, body, origin } = request
      const made = await createTag(project, body, origin).catch(refusal)
      if ('refused' in made) return showTags(request, reply.code(400), {}, { ...made, entered: body })
      return reply.redirect(`${projectPath(project)}/tags/${inPath(made.name)}`, 303)
    }
  )

  // Both addresses show a tag with its release notes.
  for (const page of ['tags', 'releases']) {
    app.get(`/:namespace/:project/${page}/*`, { config: { can: 'repository.read' } }, showTag)
  }

  app.post(
    '/:namespace/:project/releases/*',
    { config: { can: 'tag.write' }, schema: { body: ReleaseBody } },
    async (request, reply) => {
      const { project, body } = request
      const { name, release } = await findTag(project, restOf(request))
      await (release ? updateRelease : createRelease)(project, name, body.description)
      return reply.redirect(`${projectPath(project)}/tags/${inPath(name)}`, 303)
    }
  )

  app.post('/:namespace/:project/tags/delete/*', { config: { can: 'tag.write' } }, async (request, reply) => {
    await deleteTag(request.project, restOf(request), request.origin)
    return reply.redirect(`${projectPath(request.project)}/tags`, 303)
  })
}

function refusal(error: unknown): { readonly refused: string } {
  if (!(error instanceof Failure) || error instanceof NotHere) throw error
  return { refused: messageOf(error) }
}

async function showBranches(
  request: FastifyRequest,
  reply: FastifyReply,
  query: ListQuery,
  refused?: Refused
): Promise<FastifyReply> {
  const { project, actor } = request
  const branches = await pageOfBranches(project, query)
  const stateOf = await readStates(
    project,
    actor,
    branches.items.map(({ commit }) => commit.id)
  )
  const rights = {
    write: may(actor, 'branch.write', project),
    propose: may(actor, 'merge_request.create', project),
    protect: may(actor, 'branch.protect', project)
  }
  const page = {
    base: projectPath(project),
    branches,
    stateOf,
    search: query.search ?? '',
    may: rights,
    head: project.default_branch
  }
  return show(request, reply, 'code/branches', { title: 'Branches', ...page, ...refused })
}

async function showTags(
  request: FastifyRequest,
  reply: FastifyReply,
  query: ListQuery,
  refused?: Refused
): Promise<FastifyReply> {
  const { project, actor } = request
  const tags = await pageOfTags(project, query)
  const notes = await textsHtml(
    tags.items.map(({ release }) => release?.description ?? null),
    { project, actor }
  )
  const page = {
    base: projectPath(project),
    tags,
    notes,
    search: query.search ?? '',
    mayWrite: may(actor, 'tag.write', project)
  }
  return show(request, reply, 'code/tags', { title: 'Tags', head: project.default_branch, ...page, ...refused })
}

async function showTag(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { project, actor } = request
  const tag = await findTag(project, restOf(request))
  const [notes = ''] = await textsHtml([tag.release?.description ?? null], { project, actor })
  const page = { base: projectPath(project), tag, notes, mayWrite: may(actor, 'tag.write', project) }
  return show(request, reply, 'code/tag', { title: visible(tag.name), ...page })
}
