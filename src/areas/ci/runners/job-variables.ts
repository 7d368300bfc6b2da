// Builds the variables of a claimed build from its rows and its commit.
import { join } from 'node:path'
import type { CiEnvironment, CiIdToken, CiVariable } from '../../../ci/config-types.js'
import { chooseVariables, type ProjectVariable } from '../../../ci/variable-scopes.js'
import { type BuildVariable, buildVariables, type VariablesInput } from '../../../ci/variables.js'
import { publicUrl } from '../../../config.js'
import { Unavailable } from '../../../errors.js'
import { revision, version } from '../../../version.js'
import { readNamedCommits } from '../../projects/projects/elsewhere/named-commits.js'
import type { StoredProject } from '../../projects/projects/repositories.js'
import { reportedVariables } from '../builds/reported-variables.js'
import { enterEnvironment } from '../environments/resolve.js'
import { signedTokens } from '../id-tokens/id-tokens.js'
import { givenVariables } from '../pipelines/given-variables.js'
import { numberOfPipeline } from '../pipelines/numbers.js'
import { ciFileOf } from '../pipelines/pipelines.js'
import { projectVariables } from '../variables/variables.js'
import type { DescribedBuild } from './job-description.queries.js'
import type { RunnerRow } from './runners.queries.js'

export interface VariableSources {
  /** The token of the build. */
  readonly token: string
  /** Null for a build that no runner takes. */
  readonly runner: RunnerRow | null
  /** The variables of the CI file. */
  readonly configVariables: readonly CiVariable[]
  /** As in the CI file; null without one. */
  readonly environment: CiEnvironment | null
  readonly parallel: VariablesInput['build']['parallel']
  /** The names of builds whose artifacts and reported variables the build gets; null for all of earlier stages. */
  readonly dependencies: readonly string[] | null
}

const VISIBILITY = new Map([
  [0, 'private'],
  [10, 'internal'],
  [20, 'public']
] as const)

interface RunnerSources extends VariableSources {
  readonly runner: RunnerRow
  /** The tokens that are signed for the build. */
  readonly signed?: {
    readonly tokens: readonly CiIdToken[]
    /** The time limit of the build in seconds. */
    readonly timeout: number
  }
}

/** Returns the variables of a build, and sets its environment. */
export async function variablesOf(build: DescribedBuild, sources: RunnerSources): Promise<BuildVariable[]> {
  const input = await inputOf(build, sources, null)
  const environment =
    sources.environment &&
    (await enterEnvironment(build, sources.environment, name => buildVariables(within(input, name))))
  const whole = environment
    ? { ...within(input, environment.name), build: { ...input.build, environment } }
    : within(input, null)
  const variables = buildVariables(whole)
  if (!sources.signed?.tokens.length) return variables
  const { tokens, timeout } = sources.signed
  const identity = {
    ...identityOf(build),
    environment: environment?.name ?? null,
    runnerId: sources.runner.id,
    timeout
  }
  return buildVariables({ ...whole, idTokens: await signedTokens(tokens, identity, variables) })
}

const identityOf = (build: DescribedBuild) => ({
  ...{ namespaceId: build.namespace_id, namespacePath: build.namespace_path },
  ...{ projectId: build.project_id, projectPath: pathOf(build), user: userOf(build) },
  ...{ pipelineId: build.pipeline_id, pipelineSource: build.source, buildId: build.id, sha: build.sha },
  ...{ ref: build.ref, tag: build.tag === 1, refProtected: build.ref_protected === 1 }
})

/** The input with all variables of the project, of which the environment chooses some. */
interface KnownInput extends VariablesInput {
  readonly known: readonly ProjectVariable[]
}

/** The input with the variables of the project for an environment; null: without one. */
const within = ({ known, ...input }: KnownInput, environment: string | null): VariablesInput => ({
  ...input,
  projectVariables: chooseVariables(known, { environment, refProtected: input.build.refProtected === true })
})

/** Returns the input for a build's variables, except its environment. The scope of variables of the project is `environment`. */
export async function inputOf(
  build: DescribedBuild,
  sources: VariableSources,
  environment: string | null
): Promise<KnownInput> {
  const known = await projectVariables(build.project_id)
  const refProtected = build.ref_protected === 1
  return {
    known,
    build: {
      ...buildOf(build, sources.token),
      parallel: sources.parallel ?? null,
      startedAt: build.started_at,
      refProtected
    },
    commit: await commitOf(build),
    pipeline: {
      ...{ id: build.pipeline_id, source: build.source, name: build.pipeline_name },
      ...{ iid: await numberOfPipeline(build.project_id, build.pipeline_id), createdAt: build.pipeline_created_at }
    },
    project: { ...projectOf(build), configPath: await ciFileOf(storedOf(build), build.sha) },
    server: { name: 'Gitstead', version, revision, url: publicUrl() },
    runner: sources.runner && {
      id: sources.runner.id,
      description: sources.runner.description,
      tags: JSON.parse(sources.runner.tag_list) as string[]
    },
    user: userOf(build),
    configVariables: sources.configVariables,
    reportedVariables: await reportedVariables(build, sources.dependencies),
    projectVariables: chooseVariables(known, { environment, refProtected }),
    triggerVariables: build.source === 'push' ? [] : await givenVariables(build.pipeline_id)
  }
}

/** Returns the URL from which a runner clones a project, with the credentials of a build. */
export function cloneUrl(path: string, token: string): string {
  const url = new URL(join('/', `${path}.git`), `${publicUrl()}/`)
  url.username = 'gitlab-ci-token'
  url.password = token
  return url.href
}

const storedOf = ({ project_id: id, storage }: DescribedBuild): StoredProject => ({ id, storage })

const pathOf = (build: DescribedBuild) => `${build.namespace_path}/${build.project_path}`

const buildOf = (build: DescribedBuild, token: string): VariablesInput['build'] => ({
  id: build.id,
  name: build.name,
  stage: build.stage,
  ref: build.ref,
  tag: build.tag === 1,
  sha: build.sha,
  beforeSha: build.before_sha,
  manual: build.start_when === 'manual',
  token,
  repositoryUrl: cloneUrl(pathOf(build), token),
  environment: null
})

/** A job that starts a pipeline on another machine runs there, and needs the commit of the build. Throws Unavailable. */
async function commitOf(build: DescribedBuild): Promise<VariablesInput['commit']> {
  const [commit] = await readNamedCommits([{ project: storedOf(build), name: build.sha }])
  if (commit === undefined) throw new Unavailable(`the commit of build ${build.id} cannot be read now`)
  return {
    message: commit?.message ?? '',
    author: commit ? `${commit.authorName} <${commit.authorEmail}>` : '',
    timestamp: commit?.committedDate.toISOString() ?? ''
  }
}

const projectOf = (build: DescribedBuild): VariablesInput['project'] => ({
  id: build.project_id,
  path: build.project_path,
  namespace: build.namespace_path,
  name: build.project_name,
  url: `${publicUrl()}/${pathOf(build)}`,
  visibility: VISIBILITY.get(build.visibility_level as 0 | 10 | 20) ?? 'private',
  defaultBranch: build.default_branch
})

function userOf(build: DescribedBuild): VariablesInput['user'] {
  if (build.user_id === null) return null
  return {
    id: build.user_id,
    email: build.user_email ?? '',
    login: build.user_username ?? '',
    name: build.user_name ?? ''
  }
}
