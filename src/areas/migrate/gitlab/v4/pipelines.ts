// Pipelines of GitLab with their jobs. Traces and artifacts stay at the source.
import { ahead } from '../../sources/ahead.js'
import { checked, firstMoment, fitting, momentOf, shaOf } from '../../sources/shapes.js'
import type { Draft } from '../../sources/source.js'
import { readDeployments } from './deployments.js'
import { personOf } from './people.js'
import type { Reading } from './reading.js'
import { Job, Pipeline, PipelineId } from './shapes.js'

/** Pipelines whose jobs are fetched at once. */
const AT_ONCE = 4
const NO_SHA = '0'.repeat(40)

const checkId = checked(PipelineId)
const checkPipeline = checked(Pipeline)
const checkJob = checked(Job)

const SAME = new Set(['created', 'pending', 'running', 'success', 'failed', 'canceled', 'skipped'])
const STATUSES: { readonly [status: string]: string } = {
  manual: 'skipped',
  scheduled: 'skipped',
  canceling: 'canceled'
}
/** Statuses that this appliance does not have come before a job runs. */
const statusOf = (status: string) => (SAME.has(status) ? status : (STATUSES[status] ?? 'created'))
const coverageOf = (coverage: string | number | null | undefined) => {
  const number = Number(coverage ?? Number.NaN)
  return Number.isFinite(number) ? number : null
}

export async function* pipelineRecords(reading: Reading): AsyncGenerator<Draft> {
  const { client, path, skipped } = reading
  async function* ids() {
    for await (const page of client.list(`${path}/pipelines?order_by=id&sort=asc&per_page=100`, { optional: true }))
      for (const { id } of fitting(page, checkId, { what: 'pipeline', skipped })) yield id
  }
  const deployments = await readDeployments(reading)
  const deployed: Draft[] = []
  let pipelines = 0
  let builds = 0
  for await (const found of ahead(ids(), AT_ONCE, id => readPipeline(reading, id))) {
    if (!found) continue
    const number = ++pipelines
    yield { kind: 'pipeline', number, ...found.pipeline }
    for (const { id, ...job } of found.jobs) {
      const { environment = null, ...deployment } = deployments.get(id) ?? {}
      const build = ++builds
      yield { kind: 'build', pipeline: number, number: build, ...job, environment }
      if (environment !== null) deployed.push({ kind: 'deployment', environment, build, ...deployment })
    }
  }
  yield* deployed.sort((one, other) => Number(one.iid) - Number(other.iid))
}

async function readPipeline(reading: Reading, id: number) {
  const { client, path, skipped } = reading
  const found = checkPipeline((await client.find(`${path}/pipelines/${id}`))?.body)
  const sha = shaOf(found?.sha)
  if (!found || sha === null) {
    skipped('pipeline', 'the source sends it in another form than its API describes')
    return null
  }
  const jobs: Job[] = []
  const list = `${path}/pipelines/${id}/jobs?include_retried=true&per_page=100`
  for await (const page of client.list(list, { optional: true }))
    jobs.push(...fitting(page, checkJob, { what: 'build', skipped }))
  jobs.sort((one, other) => one.id - other.id)
  const stages = [...new Set(jobs.map(({ stage }) => stage))]
  const source = found.source ?? 'push'
  const pipeline = {
    ref: found.ref,
    tag: found.tag === true,
    sha,
    before_sha: shaOf(found.before_sha) ?? NO_SHA,
    status: statusOf(found.status),
    source: /^[a-z0-9_+-]{1,64}$/.test(source) ? source : 'push',
    yaml_errors: found.yaml_errors ?? null,
    user: personOf(found.user),
    committed_at: momentOf(found.committed_at),
    duration: found.duration === null || found.duration === undefined ? null : Math.round(found.duration),
    coverage: coverageOf(found.coverage),
    ...ran(found)
  }
  return { pipeline, jobs: jobs.map(job => buildOf(job, sha, stages.indexOf(job.stage))) }
}

const buildOf = (job: Job, sha: string, stage_index: number) => ({
  id: job.id,
  name: job.name,
  stage: job.stage,
  stage_index: Math.min(stage_index, 65_535),
  ref: job.ref,
  tag: job.tag === true,
  sha: shaOf(job.commit?.id) ?? sha,
  status: statusOf(job.status),
  start_when: job.status === 'manual' ? 'manual' : 'on_success',
  allow_failure: job.allow_failure === true,
  tag_list: job.tag_list ?? [],
  user: personOf(job.user),
  coverage: coverageOf(job.coverage),
  failure_reason: job.failure_reason ? job.failure_reason.slice(0, 64) : null,
  exit_code: null,
  erased_at: momentOf(job.erased_at),
  queued_at: null,
  environment_url: null,
  trace: false,
  artifacts: null,
  ...ran(job)
})

interface Ran {
  readonly started_at?: string | null
  readonly finished_at?: string | null
  readonly created_at?: string | null
  readonly updated_at?: string | null
}

function ran(found: Ran) {
  const created_at = firstMoment(found.created_at, found.started_at)
  return {
    started_at: momentOf(found.started_at),
    finished_at: momentOf(found.finished_at),
    created_at,
    updated_at: firstMoment(found.updated_at, found.finished_at, created_at)
  }
}
