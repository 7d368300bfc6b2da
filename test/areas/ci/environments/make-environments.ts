import { finishBuild } from '../../../../src/areas/ci/builds/claim.js'
import { recordDeployment } from '../../../../src/areas/ci/environments/deployments.js'
import { builtInRunner } from '../../../../src/areas/ci/runners/built-in-runner.js'
import { describeBuild } from '../../../../src/areas/ci/runners/job-description.js'
import { execute, row } from '../../../../src/db/connect/sql.js'
import type { TestProject } from '../../../helpers/factory.js'
import { beginBuild, makePipeline, type TestBuild } from '../builds/make-builds.js'

/** Adds an environment to a project, and returns its id. */
export async function makeEnvironment(project: { id: number }, name: string): Promise<number> {
  const { insertId } = await execute(
    `insert into environments (project_id, name, slug, created_at, updated_at)
     values (?, ?, left(replace(uuid(), '-', ''), 24), now(), now())`,
    [project.id, name]
  )
  return insertId
}

/** Runs a build with the rules of the product, without its script. Returns the variables that it gets. */
export async function runBuild(build: TestBuild) {
  const claim = await beginBuild(build)
  const description = await describeBuild(claim, await builtInRunner())
  await finishBuild(claim, { status: 'success' }, { size: 0, sha256: null })
  const job = await row<{ name: string }>("select name from jobs where name = 'build.deploy' and payload = ?", [
    JSON.stringify({ buildId: build.id })
  ])
  if (job) await recordDeployment(build.id)
  return description?.variables ?? []
}

/** Makes a pipeline whose only build deploys, and runs it. */
export async function fillWithDeployment(project: TestProject): Promise<void> {
  const [build] = await makePipeline(project, 'job: { script: x, environment: staging }\n')
  if (!build) throw new Error('no build')
  await runBuild(build)
}

export async function newestDeployment({ id }: { id: number }): Promise<number> {
  const found = await row<{ id: number }>('select max(id) as id from deployments where project_id = ?', [id])
  return found?.id ?? 0
}
