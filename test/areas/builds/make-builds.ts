// Builds in every state, by the product's own rules: the pipeline comes from a commit, the worker's part is played here.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { storeArtifacts } from '../../../src/areas/builds/artifacts.js'
import { finishBuild, newBuildToken, takeBuild } from '../../../src/areas/builds/claim.js'
import { createPipelineOfRefChange } from '../../../src/areas/pipelines/pipelines.js'
import { applyRefChange } from '../../../src/areas/refs/ref-effects.js'
import { builtInRunner } from '../../../src/areas/runners/built-in-runner.js'
import { config } from '../../../src/config.js'
import { row, rows } from '../../../src/db/sql.js'
import { appendTrace, resetTrace } from '../../../src/storage/traces.js'
import { factory, type TestProject } from '../../helpers/factory.js'

export interface TestBuild {
  readonly id: number
  readonly name: string
  readonly pipelineId: number
  readonly sha: string
}

/** Commits a CI file and makes its pipeline; gives the builds in order. */
export async function makePipeline(project: TestProject, ciFile: string, branch = 'master'): Promise<TestBuild[]> {
  await factory.file(project, '.gitstead-ci.yml', ciFile, branch)
  return pipelineOf(project)
}

/** Brings about the effects of the project's newest commit; gives the builds of the pipeline that it made. */
export async function pipelineOf(project: TestProject): Promise<TestBuild[]> {
  const change = await row<{ id: number }>(
    "select id from ref_changes where project_id = ? and state = 'done' order by id desc limit 1",
    [project.id]
  )
  await applyRefChange(change?.id ?? 0)
  await createPipelineOfRefChange(change?.id ?? 0)
  return rows<TestBuild>(
    `select id, name, pipeline_id as pipelineId, sha from builds
     where pipeline_id = (select max(id) from pipelines where project_id = ?) order by id`,
    [project.id]
  )
}

export interface Outcome {
  status?: 'success' | 'failed'
  trace?: string
  /** The bytes of the archive, which nothing here looks into. */
  artifacts?: Buffer
  /** Seconds until the artifacts expire. */
  expireIn?: number
}

/** Takes a certain build for a worker; null when it is not free. */
export async function takeByWorker({ id, pipelineId }: TestBuild, processId: number, token = newBuildToken()) {
  const { id: runnerId } = await builtInRunner()
  return takeBuild({ buildId: id, pipelineId }, { runnerId, processId, token })
}

/** Begins a build as a worker does. */
export async function beginBuild(build: TestBuild, processId = 1) {
  const claim = await takeByWorker(build, processId)
  if (!claim) throw new Error(`build ${build.id} cannot be begun`)
  return claim
}

/** Runs a build to its end, as far as the database and the storage see it. */
export async function endBuild(build: TestBuild, outcome: Outcome = {}): Promise<void> {
  const claim = await beginBuild(build)
  const key = { build: build.id, attempt: claim.attempt }
  if (outcome.trace !== undefined) {
    await resetTrace(key)
    await appendTrace(key, Buffer.from(outcome.trace))
  }
  if (outcome.artifacts) {
    const path = join(config().home, `archive-${build.id}`)
    writeFileSync(path, outcome.artifacts)
    await storeArtifacts(claim, { path, filename: 'artifacts.zip' }, outcome.expireIn ?? null)
  }
  await finishBuild(claim, { status: outcome.status ?? 'success' }, outcome.trace?.length ?? 0)
}

/** A commit, a pipeline, and a build with all that can be read of one. */
export async function fillWithBuild(project: TestProject): Promise<void> {
  const [build] = await makePipeline(project, 'job:\n  script: [make]\n  artifacts: {paths: [a]}\n')
  if (!build) throw new Error('no build')
  await endBuild(build, { trace: 'done', artifacts: Buffer.from('archive') })
}

export async function newestBuild({ id }: { id: number }): Promise<TestBuild> {
  const found = await row<TestBuild>(
    'select id, name, pipeline_id as pipelineId, sha from builds where project_id = ? order by id desc limit 1',
    [id]
  )
  if (!found) throw new Error(`project ${id} has no build`)
  return found
}
