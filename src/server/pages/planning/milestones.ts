// The milestones of a project, with their progress.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { may } from '../../../access/authorize.js'
import { countMilestoneIssues, listMilestoneIssues } from '../../../areas/planning/issues/issue-list.queries.js'
import { readIssues } from '../../../areas/planning/issues/issue-readings.js'
import { findLabels } from '../../../areas/planning/labels/labels.queries.js'
import { listOfMilestone } from '../../../areas/planning/merge-requests/merge-requests.queries.js'
import { createMilestone, updateMilestone, versionOfMilestone } from '../../../areas/planning/milestones/milestones.js'
import {
  listMilestones,
  type MilestoneRow,
  requireNumberedMilestone
} from '../../../areas/planning/milestones/milestones.queries.js'
import { viewMilestone } from '../../../areas/planning/milestones/milestones.view.js'
import { Stale } from '../../../errors.js'
import { type Static, Type } from '../../../lib/type.js'
import { path } from '../components.js'
import { FORM_LIMIT } from '../form-limit.js'
import { show } from '../page-routes.js'
import { projectPath } from '../place.js'
import { refusalsOf } from '../refusals.js'
import { textsHtml } from '../text/texts.js'

/** Milestones, issues and merge requests on a page. */
const ROWS = 50

const STATES = ['active', 'closed', 'all'] as const
const page = Type.Optional(Type.Integer({ minimum: 1 }))
const MilestonesQuery = Type.Object({ state: Type.Optional(Type.Enum(STATES)), page })
const MilestoneNumber = Type.Object({ iid: Type.Integer() })
const MilestoneQuery = Type.Object({ tab: Type.Optional(Type.Enum(['issues', 'merge_requests'])), page })
const MilestoneForm = Type.Object({
  title: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  start_date: Type.Optional(Type.String({ maxLength: 64 })),
  due_date: Type.Optional(Type.String({ maxLength: 64 })),
  version: Type.Optional(Type.String({ maxLength: 64 }))
})
type MilestoneForm = Static<typeof MilestoneForm>

export const milestonePages: FastifyPluginAsyncTypebox = async app => {
  const all = '/:namespace/:project/milestones'
  const one = `${all}/:iid`
  const read = { can: 'milestone.read' as const }
  const write = { can: 'milestone.write' as const }

  app.get(all, { config: read, schema: { querystring: MilestonesQuery } }, async (request, reply) => {
    const { project, actor, query } = request
    const list = await withTabs(project.id, query)
    return show(request, reply, 'planning/milestones', {
      title: 'Milestones',
      list,
      counts: await countMilestoneIssues(
        project,
        list.items.map(({ id }) => id),
        actor
      ),
      base: basePath(request),
      mayWrite: may(actor, 'milestone.write', project)
    })
  })

  app.get(`${all}/new`, { config: write }, async (request, reply) => showForm(request, reply))

  app.post(all, { config: write, bodyLimit: FORM_LIMIT, schema: { body: MilestoneForm } }, async (request, reply) => {
    try {
      const { iid } = await createMilestone(request.project, valuesOf(request.body), request.origin)
      return reply.redirect(basePath(request) + path(iid), 303)
    } catch (error) {
      return showForm(request, reply.code(400), undefined, { entered: request.body, refusals: refusalsOf(error) })
    }
  })

  app.get(
    one,
    { config: read, schema: { params: MilestoneNumber, querystring: MilestoneQuery } },
    async (request, reply) => {
      const milestone = await milestoneOf(request)
      return show(request, reply, 'planning/milestone', await readPage(request, milestone))
    }
  )

  app.get(`${one}/edit`, { config: write, schema: { params: MilestoneNumber } }, async (request, reply) =>
    showForm(request, reply, await milestoneOf(request))
  )

  app.post(
    `${one}/edit`,
    { config: write, bodyLimit: FORM_LIMIT, schema: { params: MilestoneNumber, body: MilestoneForm } },
    async (request, reply) => {
      const { project, body, origin } = request
      const milestone = await milestoneOf(request)
      try {
        await updateMilestone(project, milestone.id, valuesOf(body), origin, body.version)
        return reply.redirect(basePath(request) + path(milestone.iid), 303)
      } catch (error) {
        const isStale = error instanceof Stale
        const refused = { entered: body, isStale, refusals: isStale ? undefined : refusalsOf(error) }
        return showForm(request, reply.code(isStale ? 409 : 400), milestone, refused)
      }
    }
  )

  for (const event of ['close', 'activate'] as const) {
    app.post(`${one}/${event}`, { config: write, schema: { params: MilestoneNumber } }, async (request, reply) => {
      const { id, iid } = await milestoneOf(request)
      await updateMilestone(request.project, id, { state_event: event }, request.origin)
      return reply.redirect(basePath(request) + path(iid), 303)
    })
  }
}

const basePath = ({ project }: FastifyRequest) => `${projectPath(project)}/milestones`

const milestoneOf = ({ project, params }: FastifyRequest): Promise<MilestoneRow> =>
  requireNumberedMilestone(project.id, (params as { iid: number }).iid)

const valuesOf = ({ version: _, title = '', description = '', start_date = '', due_date = '' }: MilestoneForm) => ({
  title,
  description,
  start_date,
  due_date
})

/** Reads a page of milestones, and counts them in the other states. */
async function withTabs(projectId: number, { state = 'active', page }: Static<typeof MilestonesQuery>) {
  const list = (each: (typeof STATES)[number], query: object) =>
    listMilestones(projectId, { ...(each === 'all' ? {} : { state: each }), ...query })
  const pages = await Promise.all(
    STATES.map(each => list(each, each === state ? { page, per_page: ROWS } : { per_page: 1 }))
  )
  const totals = Object.fromEntries(STATES.map((each, at) => [each, pages[at]?.total ?? 0]))
  return { total: 0, perPage: ROWS, page: 1, items: [], ...pages[STATES.indexOf(state)], state, totals }
}

async function readPage(request: FastifyRequest, milestone: MilestoneRow) {
  const { project, actor } = request
  const { tab = 'issues', page } = request.query as Static<typeof MilestoneQuery>
  const query = (of: typeof tab) => (of === tab ? { page, per_page: ROWS } : { per_page: 1 })
  const seesRequests = may(actor, 'merge_request.read', project)
  const [[description = ''], counts, issues, mergeRequests] = await Promise.all([
    textsHtml([milestone.description], request),
    countMilestoneIssues(project, [milestone.id], actor),
    listMilestoneIssues(project, milestone.id, query('issues'), actor),
    seesRequests ? listOfMilestone(milestone.id, query('merge_requests'), actor) : undefined
  ])
  const readings = tab === 'issues' ? await readIssues(issues.items, actor) : []
  return {
    title: milestone.title,
    milestone: viewMilestone(milestone),
    description,
    counts: counts.get(milestone.id) ?? { open: 0, closed: 0 },
    tab,
    list: { ...issues, items: readings, state: 'all' },
    labels: await findLabels(project, [...new Set(readings.flatMap(({ labels }) => labels))]),
    mergeRequests,
    base: `${projectPath(project)}/issues`,
    milestonePath: basePath(request) + path(milestone.iid),
    mayWrite: may(actor, 'milestone.write', project),
    mayCreateIssue: may(actor, 'issue.create', project)
  }
}

interface Refused {
  readonly entered?: MilestoneForm
  readonly refusals?: Readonly<Record<string, string>> | undefined
  readonly isStale?: boolean
}

/** Shows the form of a milestone, or of a new one, with what was entered if it was refused. */
function showForm(request: FastifyRequest, reply: FastifyReply, milestone?: MilestoneRow, refused: Refused = {}) {
  const base = basePath(request)
  const { project } = request
  return show(request, reply, 'planning/milestone-form', {
    title: milestone ? 'Edit a milestone' : 'New milestone',
    milestone,
    action: milestone ? `${base}/${milestone.iid}/edit` : base,
    back: milestone ? `${base}/${milestone.iid}` : base,
    project: `${project.namespace_path}/${project.path}`,
    values: refused.entered ?? milestone ?? {},
    version: refused.entered && !refused.isStale ? refused.entered.version : milestone && versionOfMilestone(milestone),
    ...refused
  })
}
