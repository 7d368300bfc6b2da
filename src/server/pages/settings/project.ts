// The attributes of a project, and what happens to it as a whole: a new path, archiving, a move into a group, deletion.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { authorizeGroup, may } from '../../../access/authorize.js'
import { findGroup } from '../../../areas/people/groups/groups.queries.js'
import { transferProject } from '../../../areas/projects/project-groups/transfer.js'
import { archiveProject, authorizeChange, updateProject } from '../../../areas/projects/projects/project-update.js'
import { findProject } from '../../../areas/projects/projects/projects.queries.js'
import { ProjectChange } from '../../../areas/projects/projects/projects.schema.js'
import { showProject } from '../../../areas/projects/projects/show-project.js'
import { removeProject } from '../../../areas/upkeep/removal/project-removal.js'
import { NotFound, Stale } from '../../../errors.js'
import { type Static, Type } from '../../../lib/type.js'
import { requireVersion, versionOf } from '../../../text/versions.js'
import { branchNames } from '../merge-requests/branch-names.js'
import { projectPath } from '../place.js'
import { type Refusals, refusalsOf } from '../refusals.js'
import { settingsPath, showSettings } from './menu.js'

// The registry is left out: the appliance only keeps its setting. The path has a form of its own.
const { path: _, public: __, container_registry_enabled: ___, ...attributes } = ProjectChange.properties
const NAMES = Object.keys(attributes) as (keyof typeof attributes)[]

const General = Type.Object({ ...attributes, version: Type.Optional(Type.String()) })
type General = Static<typeof General>
const NewPath = Type.Object({ path: Type.String({ maxLength: 255 }) })
const Target = Type.Object({ group: Type.String({ maxLength: 255 }) })
export const Confirmation = Type.Object({ confirmation: Type.Optional(Type.String({ maxLength: 1024 })) })

export const projectSettingPages: FastifyPluginAsyncTypebox = async app => {
  const all = '/:namespace/:project/settings'
  const update = { can: 'project.update' as const }
  const administer = { can: 'project.administer' as const }

  app.get(all, { config: update }, (request, reply) => showGeneral(request, reply))

  app.post(all, { config: update, schema: { body: General } }, async (request, reply) => {
    const { project, actor, origin, body } = request
    const { version, ...change } = body
    authorizeChange(actor, project, change)
    try {
      requireVersion(version, textOf(await showProject(project.id, actor)))
      await updateProject(project, change, origin)
      return reply.redirect(`${settingsPath(request)}?saved=1`, 303)
    } catch (error) {
      if (error instanceof Stale) return showGeneral(request, reply.code(409), { entered: change, isStale: true })
      return showGeneral(request, reply.code(400), { entered: body, refusals: refusalsOf(error) })
    }
  })

  app.post(`${all}/path`, { config: update, schema: { body: NewPath } }, async (request, reply) => {
    try {
      await updateProject(request.project, request.body, request.origin)
    } catch (error) {
      const { path, base } = refusalsOf(error)
      return showGeneral(request, reply.code(400), {
        refusals: { path: path ?? base ?? '' },
        newPath: request.body.path
      })
    }
    return reply.redirect(`${await currentPath(request)}/settings`, 303)
  })

  for (const [verb, archived] of [['archive', true] as const, ['unarchive', false] as const]) {
    app.post(`${all}/${verb}`, { config: administer }, async (request, reply) => {
      await archiveProject(request.project, archived, request.origin)
      return reply.redirect(settingsPath(request), 303)
    })
  }

  app.post(`${all}/transfer`, { config: administer, schema: { body: Target } }, async (request, reply) => {
    const { actor, project, body, origin } = request
    const group = await findGroup(body.group, actor)
    try {
      authorizeGroup(actor, 'project.transfer', group)
      await transferProject(project.id, group?.id ?? 0, origin)
    } catch (error) {
      const text = error instanceof NotFound ? 'no group has this path' : Object.values(refusalsOf(error)).join(', ')
      return showGeneral(request, reply.code(400), { refusals: { group: text }, newGroup: body.group })
    }
    return reply.redirect(`${await currentPath(request)}/settings`, 303)
  })

  app.post(`${all}/delete`, { config: administer, schema: { body: Confirmation } }, async (request, reply) => {
    const { project, body, origin } = request
    if (body.confirmation !== `${project.namespace_path}/${project.path}`) {
      return showGeneral(request, reply.code(400), { refusals: { confirmation: 'is not the path of the project' } })
    }
    await removeProject(project, origin)
    return reply.redirect('/dashboard/projects', 303)
  })
}

/** The path of the project after a change. */
async function currentPath({ project, actor }: FastifyRequest): Promise<string> {
  const found = await findProject(String(project.id), actor)
  if (!found) throw new NotFound('Project')
  return projectPath(found)
}

/** Everything that the form shows: it must not overwrite what somebody else has changed since it was opened. */
const textOf = (record: { readonly [Name in keyof General]?: unknown }): string =>
  JSON.stringify(NAMES.map(name => record[name]))

interface Shown {
  readonly entered?: object
  readonly refusals?: Refusals
  readonly isStale?: boolean
  readonly newPath?: string
  readonly newGroup?: string
}

async function showGeneral(request: FastifyRequest, reply: FastifyReply, shown: Shown = {}): Promise<FastifyReply> {
  const { project, actor, query } = request
  const [record, branches] = await Promise.all([showProject(project.id, actor), branchNames(project, actor)])
  const { version } = (shown.entered ?? {}) as General
  return showSettings(request, reply, 'project', {
    title: 'Settings',
    record,
    branches,
    values: { ...record, ...shown.entered },
    version: version ?? versionOf(textOf(record)),
    saved: (query as { saved?: string }).saved === '1',
    owner: may(actor, 'project.administer', project),
    admin: actor.user?.admin === true,
    fullPath: `${project.namespace_path}/${project.path}`,
    ...shown
  })
}
