// The forms that open, change, move and delete an issue.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { canSee, may } from '../../../access/authorize.js'
import { createIssue } from '../../../areas/planning/issues/creation.js'
import { readIssue } from '../../../areas/planning/issues/issue-readings.js'
import { authorizeUpdate, deleteIssue, updateIssue } from '../../../areas/planning/issues/issues.js'
import {
  type IssueRow,
  issueUrl,
  type ListedIssueRow,
  requireNumberedIssue
} from '../../../areas/planning/issues/issues.queries.js'
import { viewIssue } from '../../../areas/planning/issues/issues.view.js'
import { moveIssue } from '../../../areas/planning/issues/move.js'
import { findProject, type ProjectRow } from '../../../areas/projects/projects/projects.queries.js'
import { Invalid, Stale } from '../../../errors.js'
import { GUEST } from '../../../lib/levels.js'
import { type Static, Type } from '../../../lib/type.js'
import { versionOf } from '../../../text/versions.js'
import { local } from '../components.js'
import { FORM_LIMIT } from '../form-limit.js'
import { show } from '../page-routes.js'
import { projectPath } from '../place.js'
import { type Refusals, refusalsOf } from '../refusals.js'
import { readChoices } from './choices.js'
import { issuePath, rightsOn } from './issue-page.js'
import { PlanFields, planChangeOf, planOf, withEntered } from './plan-form.js'

const IssueNumber = Type.Object({ iid: Type.Integer() })
const IssueForm = Type.Object({
  title: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  confidential: Type.Optional(Type.Boolean()),
  confidential_was: Type.Optional(Type.Boolean()),
  due_date: Type.Optional(Type.String({ maxLength: 64 })),
  due_date_was: Type.Optional(Type.String({ maxLength: 64 })),
  version: Type.Optional(Type.String({ maxLength: 64 })),
  ...PlanFields
})
type IssueForm = Static<typeof IssueForm>
const texts = { title: Type.Optional(Type.String()), description: Type.Optional(Type.String()) }
/** What a link to the form fills in, as `title` or `issue[title]`. */
const NewIssueQuery = Type.Object({ ...texts, issue: Type.Optional(Type.Object(texts)) })
const MoveForm = Type.Object({ to: Type.Optional(Type.String({ maxLength: 1024 })) })

export const issueFormPages: FastifyPluginAsyncTypebox = async app => {
  const all = '/:namespace/:project/issues'
  const one = `${all}/:iid`
  const create = { can: 'issue.create' as const }
  const write = { can: 'issue.write' as const }

  app.get(`${all}/new`, { config: create, schema: { querystring: NewIssueQuery } }, async (request, reply) => {
    const { issue, ...query } = request.query
    return showNew(request, reply, { entered: { ...query, ...issue } })
  })

  app.post(all, { config: create, bodyLimit: FORM_LIMIT, schema: { body: IssueForm } }, async (request, reply) => {
    const { project, body, actor } = request
    try {
      const { iid } = await createIssue(project, { title: '', ...valuesOf(body), ...planOf(body) }, actor)
      return reply.redirect(issuePath(project, iid), 303)
    } catch (error) {
      return showNew(request, reply.code(400), { entered: body, refusals: refusalsOf(error) })
    }
  })

  app.get(`${one}/edit`, { config: write, schema: { params: IssueNumber } }, async (request, reply) =>
    showEdit(request, reply, await changeable(request))
  )

  app.post(
    `${one}/edit`,
    { config: write, bodyLimit: FORM_LIMIT, schema: { params: IssueNumber, body: IssueForm } },
    async (request, reply) => {
      const { project, body, actor } = request
      const issue = await changeable(request)
      try {
        const change = changeOf(body, (await readIssue(issue, actor)).labels)
        if (Object.keys(change).length > 0) await updateIssue(project, issue.id, change, actor)
        return reply.redirect(issuePath(project, issue.iid), 303)
      } catch (error) {
        if (error instanceof Stale) return showEdit(request, reply.code(409), issue, { entered: body, isStale: true })
        return showEdit(request, reply.code(400), issue, { entered: body, refusals: refusalsOf(error) })
      }
    }
  )

  app.post(
    `${one}/move`,
    { config: write, schema: { params: IssueNumber, body: MoveForm } },
    async (request, reply) => {
      const { project, body, actor } = request
      const issue = await changeable(request)
      try {
        const moved = await moveIssue(project, issue.id, await idOfProject(body.to, request), actor)
        return reply.redirect(local(issueUrl(moved)), 303)
      } catch (error) {
        return showEdit(request, reply.code(400), issue, { to: body.to, refusals: refusalsOf(error) })
      }
    }
  )

  app.post(`${one}/delete`, { config: write, schema: { params: IssueNumber } }, async (request, reply) => {
    const { project, params, actor } = request
    await deleteIssue(project, await requireNumberedIssue(project, params.iid, actor), actor)
    return reply.redirect(`${projectPath(project)}/issues`, 303)
  })
}

/** Returns the issue of the path. Throws NotFound, or Forbidden when the visitor may not change it. */
async function changeable({ project, actor, params }: FastifyRequest): Promise<ListedIssueRow> {
  const issue = await requireNumberedIssue(project, (params as { iid: number }).iid, actor)
  authorizeUpdate(actor, project, issue)
  return issue
}

async function idOfProject(path: string | undefined, { actor }: FastifyRequest): Promise<number> {
  const found = path === undefined ? undefined : await findProject(path.trim(), actor)
  if (!found || !canSee(found, actor)) throw new Invalid('to', 'is not a project that you can see')
  return found.id
}

const valuesOf = ({ title, description, confidential, due_date }: IssueForm) => ({
  ...(title !== undefined && { title }),
  ...(description !== undefined && { description }),
  ...(confidential !== undefined && { confidential }),
  ...(due_date !== undefined && { due_date })
})

/** Returns what a form changes. What is as the visitor has found it is left out: somebody else may have changed it since. */
function changeOf(form: IssueForm, labels: readonly string[]) {
  const { title, description, confidential, due_date } = valuesOf(form)
  const others = {
    ...(confidential !== undefined && confidential !== form.confidential_was && { confidential }),
    ...(due_date !== undefined && due_date !== form.due_date_was && { due_date }),
    ...planChangeOf(form, labels)
  }
  const isSame = form.version === versionOf(title ?? '', description || null)
  return isSame ? others : { ...others, title: title ?? '', description: description ?? '', ...versionIn(form) }
}

const versionIn = ({ version }: IssueForm) => (version === undefined ? {} : { version })

interface Refused {
  readonly entered?: IssueForm
  readonly refusals?: Refusals
  readonly isStale?: boolean
  /** The project to which the issue could not be moved. */
  readonly to?: string | undefined
}

const NO_PLAN = { assignee: null, milestone: null, labels: [] }

async function showNew(request: FastifyRequest, reply: FastifyReply, { entered = {}, refusals }: Refused) {
  const { project, actor } = request
  const choices = may(actor, 'issue.plan', project) ? await readChoices(project, GUEST) : undefined
  return show(request, reply, 'planning/issue-form', {
    ...pathsOf(project),
    title: 'New issue',
    action: `${projectPath(project)}/issues`,
    back: `${projectPath(project)}/issues`,
    values: entered,
    choices,
    plan: choices && withEntered(NO_PLAN, entered, choices),
    refusals
  })
}

/** Shows the form of an issue, with what was entered if it was refused. A stale form stands next to the current texts. */
async function showEdit(request: FastifyRequest, reply: FastifyReply, row: IssueRow, refused: Refused = {}) {
  const { project, actor } = request
  const { entered, isStale = false } = refused
  const rights = rightsOn(project, row, actor)
  const [reading, choices] = await Promise.all([
    readIssue(row, actor),
    rights.plan ? readChoices(project, GUEST) : undefined
  ])
  const issue = viewIssue(reading)
  return show(request, reply, 'planning/issue-form', {
    ...pathsOf(project),
    title: `Edit #${row.iid}`,
    action: `${issuePath(project, row.iid)}/edit`,
    back: issuePath(project, row.iid),
    issue,
    rights,
    values: { ...issue, ...entered },
    version: entered && !isStale ? entered.version : versionOf(row.title, row.description),
    choices,
    plan: choices && withEntered(issue, entered ?? {}, choices),
    ...refused
  })
}

const pathsOf = (project: ProjectRow) => ({ project: `${project.namespace_path}/${project.path}` })
