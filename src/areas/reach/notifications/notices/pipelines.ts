import { may } from '../../../../access/authorize.js'
import { row, rows } from '../../../../db/connect/sql.js'
import { readCommit } from '../../../../git/objects/objects.js'
import type { MailFacts } from '../../../../mail/kinds.js'
import { endOfTrace } from '../../../ci/builds/live-build.js'
import type { Published } from '../../../ground/activity/events.js'
import type { ProjectRow } from '../../../projects/projects/projects.queries.js'
import { repositoryPath } from '../../../projects/projects/repositories.js'
import { withoutPipelines } from '../people.queries.js'
import { type Notice, pathOf, readProject, urlOf } from './notice.js'
import { lastLines } from './trace-end.js'

/** The limits of builds that a mail names, and of those whose traces it shows. */
const MOST_BUILDS = 20
const MOST_TRACES = 3
/** Bytes at the end of a trace that are searched for its last lines. */
const TRACE_END = 16_384
const LONGEST_REASON = 1000

/**
 * The mails about the end of a pipeline; none for other changes. They have no actor, so that the user who started it gets mail too.
 * The first one shows traces.
 */
export async function pipelineNotices(told: Published<'pipeline.changed'>): Promise<readonly Notice<'pipeline'>[]> {
  const { pipeline } = told.event
  const { status } = pipeline
  if (status !== 'failed' && status !== 'success') return []
  const project = await readProject(pipeline.project_id)
  if (!project) return []
  const notice = (
    key: string,
    isReadable: Notice['concerned']['isReadable'],
    withTraces: boolean
  ): Notice<'pipeline'> => ({
    event: status === 'failed' ? 'failed_pipeline' : 'success_pipeline',
    once: `${told.id} ${key}`,
    actorId: null,
    concerned: {
      project,
      unsubscribed: withoutPipelines(project.id),
      named: [['pipeline_user', pipeline.user_id]],
      isReadable
    },
    mail: { kind: 'pipeline' },
    facts: () => factsOf(project, pipeline, withTraces)
  })
  const reads: Notice['concerned']['isReadable'] = (of, actor) => may(actor, 'pipeline.read', of)
  if (status === 'success' || project.public_builds === 1) return [notice('pipeline', reads, true)]
  // Others may read the pipelines of a public project, but not its builds.
  const readsBuilds: typeof reads = (of, actor) => may(actor, 'build.read', of)
  return [
    notice('pipeline', (of, actor) => reads(of, actor) && readsBuilds(of, actor), true),
    notice('pipeline of others', (of, actor) => reads(of, actor) && !readsBuilds(of, actor), false)
  ]
}

type Pipeline = Published<'pipeline.changed'>['event']['pipeline']

async function factsOf(project: ProjectRow, pipeline: Pipeline, withTraces: boolean): Promise<MailFacts['pipeline']> {
  const { id, status, sha, ref } = pipeline
  const [commit, failed, statuses] = await Promise.all([
    readCommit(repositoryPath(project), sha),
    failedBuilds(pipeline),
    failedStatuses(id)
  ])
  const names = [...failed.map(described), ...statuses]
  return {
    project: pathOf(project),
    url: urlOf(project, `pipelines/${id}`),
    id,
    status,
    ref,
    commit: sha.slice(0, 8),
    title: commit?.message.split('\n', 1)[0] ?? '',
    reason: names.length === 0 && status === 'failed' ? await errorsOf(id) : null,
    failed: names.slice(0, MOST_BUILDS),
    failed_total: names.length,
    ...(withTraces && { traces: await tracesOf(failed.slice(0, MOST_TRACES)) })
  }
}

async function errorsOf(pipelineId: number): Promise<string | null> {
  const found = await row<{ yaml_errors: string | null }>('select yaml_errors from pipelines where id = ?', [
    pipelineId
  ])
  return found?.yaml_errors?.slice(0, LONGEST_REASON) ?? null
}

interface FailedBuild {
  readonly id: number
  readonly stage: string
  readonly name: string
  readonly status: string
  readonly attempt: number
  readonly erased_at: Date | null
  readonly failure_reason: string | null
  readonly exit_code: number | null
}

const nameOf = ({ stage, name }: FailedBuild) => `${stage}: ${name}`

/** Such as `test: rspec (script failure, exit code 1)`. */
function described(build: FailedBuild): string {
  const { failure_reason: reason, exit_code: code } = build
  const words = [reason?.replaceAll('_', ' '), code === null ? null : `exit code ${code}`].filter(Boolean)
  return words.length === 0 ? nameOf(build) : `${nameOf(build)} (${words.join(', ')})`
}

/** Stored traces are masked: they contain no values of secret variables. */
async function tracesOf(builds: readonly FailedBuild[]) {
  const found = await Promise.all(
    builds.map(async build => ({
      name: nameOf(build),
      text: lastLines((await endOfTrace(build, TRACE_END)).tail)
    }))
  )
  return found.filter(({ text }) => text !== '')
}

/** The builds that had failed when the pipeline ended: they may have been retried since. */
async function failedBuilds({ id, builds }: Pipeline): Promise<readonly FailedBuild[]> {
  const failed = new Set(builds.filter(({ status }) => status === 'failed').map(build => build.id))
  if (failed.size === 0) return []
  const found = await rows<FailedBuild>(
    `select id, stage, name, status, attempt, erased_at, failure_reason, exit_code from builds
     where pipeline_id = ? and not allow_failure order by id limit 2000`,
    [id]
  )
  return found.filter(build => failed.has(build.id))
}

/** The failed external statuses of the commit, by the last post of each. */
async function failedStatuses(pipelineId: number): Promise<readonly string[]> {
  const found = await rows<{ name: string }>(
    `select s.name from commit_statuses s
       join (select max(id) as id from commit_statuses where pipeline_id = ? group by name) latest on latest.id = s.id
     where s.status = 'failed' order by s.id limit 2000`,
    [pipelineId]
  )
  return found.map(({ name }) => `external: ${name}`)
}
