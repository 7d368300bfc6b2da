// The form that opens a merge request: first its branches, then its texts above the commits and changes that it will have.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { levelIn, may } from '../../../access/authorize.js'
import { viewCommitItem } from '../../../areas/code/repository/repository.view.js'
import { mayRemoveBranch } from '../../../areas/planning/merge-requests/accept/finish.js'
import { createMergeRequest, findTarget } from '../../../areas/planning/merge-requests/merge-requests.js'
import { NO_PREVIEW, previewMergeRequest, suggestedTexts } from '../../../areas/planning/merge-requests/preview.js'
import { AlreadyOpen } from '../../../areas/planning/merge-requests/rules.js'
import { findForkLink } from '../../../areas/projects/projects/fork-links.js'
import { findProject, type ProjectRow } from '../../../areas/projects/projects/projects.queries.js'
import { Failure, NotHere } from '../../../errors.js'
import { DEVELOPER } from '../../../lib/levels.js'
import { type Static, Type } from '../../../lib/type.js'
import { DiffQuery, diffPart } from '../code/diff.js'
import { FORM_LIMIT } from '../form-limit.js'
import { show } from '../page-routes.js'
import { projectPath } from '../place.js'
import { readChoices } from '../planning/choices.js'
import { pathOf } from '../planning/discussion.js'
import { PlanFields, planOf, withEntered } from '../planning/plan-form.js'
import { refusalsOf } from '../refusals.js'
import { branchNames } from './branch-names.js'
import { mergeRequestPath } from './head.js'

const branch = Type.Optional(Type.String({ maxLength: 255 }))
const Branches = { source_branch: branch, target_branch: branch, target_project_id: Type.Optional(Type.String()) }
const NewQuery = Type.Object({ merge_request: Type.Optional(Type.Object(Branches)), ...DiffQuery })
const Form = Type.Object({
  source_branch: Type.String({ maxLength: 255 }),
  target_branch: Type.String({ maxLength: 255 }),
  target_project_id: Type.Integer(),
  title: Type.String(),
  description: Type.Optional(Type.String()),
  remove_source_branch: Type.Optional(Type.Boolean()),
  ...PlanFields
})
type Form = Static<typeof Form>

export const newMergeRequestPages: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'merge_request.create' as const }
  const path = '/:namespace/:project/merge_requests'

  app.get(`${path}/new`, { config, schema: { querystring: NewQuery } }, async (request, reply) => {
    const { source_branch: from, target_branch: into, target_project_id: id } = request.query.merge_request ?? {}
    const targets = await targetsOf(request)
    const target = targets.find(project => String(project.id) === id) ?? targets[0] ?? request.project
    const chosen = { target, from, into: into || target.default_branch || '' }
    return from ? showForm(request, reply, { ...chosen, from }) : showBranches(request, reply, chosen)
  })

  app.post(path, { config, bodyLimit: FORM_LIMIT, schema: { body: Form } }, async (request, reply) => {
    const { project, body, actor, origin } = request
    const { labels: _labels, new_labels: _added, plan_was: _was, ...values } = body
    const target = await findTarget(project, body.target_project_id, actor)
    try {
      const made = await createMergeRequest(project, { ...values, ...planOf(body) }, actor, origin)
      return reply.redirect(mergeRequestPath(target, made.iid), 303)
    } catch (error) {
      const chosen = { target, from: body.source_branch, into: body.target_branch }
      return showForm(request, reply.code(400), chosen, { entered: body, error })
    }
  })
}

/** Returns the projects that can get a merge request: the source of a fork first, if the visitor may read merge requests there. */
async function targetsOf({ project, actor }: FastifyRequest): Promise<ProjectRow[]> {
  const link = project.is_fork === 1 ? await findForkLink(project.id) : undefined
  const source = link && (await findProject(link.forked_from_project_id, actor))
  const isOpen = source && !source.archived && may(actor, 'merge_request.read', source)
  return isOpen ? [source, project] : [project]
}

interface Chosen {
  readonly target: ProjectRow
  readonly from?: string | undefined
  readonly into: string
}

/** Shows the first step: the branches. */
async function showBranches(
  request: FastifyRequest,
  reply: FastifyReply,
  { target, from, into }: Chosen,
  why?: string
) {
  const { project, actor } = request
  const targets = await targetsOf(request)
  const [own, theirs] = await Promise.all([project, target].map(one => branchNames(one, actor)))
  return show(request, reply, 'merge-requests/new-branches', {
    title: 'New merge request',
    base: `${projectPath(project)}/merge_requests`,
    targets,
    target,
    from,
    into,
    own,
    theirs,
    refusal: why
  })
}

interface Refused {
  readonly entered: Form
  readonly error: unknown
}

/** Shows the second step; the first one again if these branches cannot be merged. */
async function showForm(
  request: FastifyRequest,
  reply: FastifyReply,
  chosen: Chosen & { readonly from: string },
  refused?: Refused
) {
  const { project, actor } = request
  const { target, from, into } = chosen
  const refusals = refused && refusalsOf(refused.error)
  const proposal = { source: project, sourceBranch: from, target, targetBranch: into }
  const found = await previewMergeRequest(proposal).catch(refusalBy)
  const open = found instanceof AlreadyOpen && found.iid !== undefined ? mergeRequestPath(target, found.iid) : undefined
  if (open && !refused) return reply.redirect(open)
  if (found instanceof Failure && !refused) return showBranches(request, reply, chosen, whyNot(found))
  // What was written stays, whatever has become of the branches.
  const preview = found instanceof Failure ? NO_PREVIEW : found
  const choices = levelIn(target, actor) >= DEVELOPER ? await readChoices(target, DEVELOPER) : undefined
  const base = `${projectPath(project)}/merge_requests`
  const query = branchQuery(chosen)
  return show(request, reply, 'merge-requests/new', {
    title: 'New merge request',
    base,
    chosen,
    change: `${base}/new?${new URLSearchParams({ 'merge_request[target_branch]': into })}`,
    values: refused?.entered ?? suggestedTexts(from, preview.commits),
    refusals,
    open: open && { href: open, title: (found as AlreadyOpen).title },
    choices,
    plan: choices && withEntered({ assignee: null, milestone: null, labels: [] }, refused?.entered ?? {}, choices),
    removable: await mayRemoveBranch(project, from, actor),
    project: pathOf(target),
    commits: preview.commits.slice(0, COMMITS).map(viewCommitItem),
    total: preview.commits.length,
    hidden: preview.hidden,
    projectPath: projectPath(project),
    part: await diffPart(preview, request.query as DiffQuery, {
      page: `${base}/new?${query}&`,
      repository: preview.repository
    })
  })
}

/** Commits in the preview. */
const COMMITS = 50

const branchQuery = ({ target, from = '', into }: Chosen) =>
  new URLSearchParams({
    'merge_request[source_branch]': from,
    'merge_request[target_branch]': into,
    'merge_request[target_project_id]': String(target.id)
  })

/** Returns the failure by which the rules refuse two branches. */
function refusalBy(error: unknown): Failure {
  if (!(error instanceof Failure) || error instanceof NotHere) throw error
  return error
}

/** Returns the words for people about it. */
function whyNot(error: Failure): string {
  return Object.entries(refusalsOf(error))
    .map(([field, text]) => (field === 'base' ? text : `${field.replace('_', ' ')} ${text}`))
    .join('; ')
}
