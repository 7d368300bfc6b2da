// Makes builds in every state with the rules of the product: a commit creates the pipeline. This file acts as worker.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { storeArtifacts } from '../../../../src/areas/ci/builds/artifacts.js'
import { finishBuild, newBuildToken, takeBuild } from '../../../../src/areas/ci/builds/claim.js'
import { createPipelineOfRefChange } from '../../../../src/areas/ci/pipelines/pipelines.js'
import { builtInRunner } from '../../../../src/areas/ci/runners/built-in-runner.js'
import { applyRefChange } from '../../../../src/areas/code/refs/ref-effects.js'
import { config } from '../../../../src/config.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { measureTrace } from '../../../../src/storage/measure.js'
import { appendTrace, resetTrace } from '../../../../src/storage/traces.js'
import { factory, type TestProject } from '../../../helpers/factory.js'

export interface TestBuild {
  readonly id: number
  readonly name: string
  readonly pipelineId: number
  readonly sha: string
}

/** Commits a CI file and creates its pipeline. Returns the builds in order. */
export async function makePipeline(project: TestProject, ciFile: string, branch = 'master'): Promise<TestBuild[]> {
  await factory.file(project, '.gitstead-ci.yml', ciFile, branch)
  return pipelineOf(project)
}

/** Runs the effects of the project's newest commit. Returns the builds of the pipeline that they create. */
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
  /** The bytes of the archive. They need not be a valid archive, because no code here reads them. */
  artifacts?: Buffer
  /** Seconds until the artifacts expire. */
  expireIn?: number
}

/** Claims the given build for a worker. Returns null when the build is not free. */
export async function takeByWorker({ id, pipelineId }: TestBuild, processId: number, token = newBuildToken()) {
  const { id: runnerId } = await builtInRunner()
  return takeBuild({ buildId: id, pipelineId }, { runnerId, processId, token })
}

/** Starts a build as a worker does. */
export async function beginBuild(build: TestBuild, processId = 1) {
  const claim = await takeByWorker(build, processId)
  if (!claim) throw new Error(`build ${build.id} cannot be begun`)
  return claim
}

/** Ends a build in the database and the storage, without running its script. */
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
  await finishBuild(claim, { status: outcome.status ?? 'success' }, await measureTrace(key))
}

/** Makes a commit, a pipeline, and a build that has everything a client can read, such as a trace and artifacts. */
export async function fillWithBuild(project: TestProject): Promise<void> {
  const [build] = await makePipeline(project, 'job:\n  script: [make]\n  artifacts: {paths: [a]}\n')
  if (!build) throw new Error('no build')
  await endBuild(build, { trace: 'done', artifacts: Buffer.from('archive') })
}

/** Copies the newest build of a project with another status and another name. */
export async function anotherBuild(
  { id }: { id: number },
  { status = 'success', when = 'on_success' }: { status?: string; when?: string } = {}
): Promise<TestBuild> {
  const { insertId } = await execute(
    `insert into builds (pipeline_id, project_id, user_id, name, stage, stage_index, ref, tag, sha, status, start_when,
       allow_failure, tag_list, tag_list_hash, plan, attempt, artifacts_filename, artifacts_size, artifacts_attempt,
       artifacts_expire_at, created_at, updated_at)
     select pipeline_id, project_id, user_id, uuid(), stage, stage_index, ref, tag, sha, ?, ?, allow_failure, tag_list,
       tag_list_hash, plan, 1, 'artifacts.zip', 7, 1, '2100-01-01', created_at, updated_at
     from builds where project_id = ? order by id desc limit 1`,
    [status, when, id]
  )
  const made = await row<TestBuild>('select id, name, pipeline_id as pipelineId, sha from builds where id = ?', [
    insertId
  ])
  if (!made) throw new Error(`project ${id} has no build`)
  return made
}

export async function newestBuild({ id }: { id: number }): Promise<TestBuild> {
  const found = await row<TestBuild>(
    'select id, name, pipeline_id as pipelineId, sha from builds where project_id = ? order by id desc limit 1',
    [id]
  )
  if (!found) throw new Error(`project ${id} has no build`)
  return found
}
