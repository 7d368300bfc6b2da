// Builds the variables of one build, with the old and the new names of the runner's protocol, in one order of precedence.
import type { CiVariable, EnvironmentAction } from './config-types.js'
import type { PipelineSource } from './refs.js'
import type { MaskableVariable } from './variable-scopes.js'

export interface BuildVariable {
  readonly key: string
  readonly value: string
  /** False for a value that must not be shown: a token, or a secret of a user. */
  readonly public: boolean
  /** True: variables in the value are not replaced. */
  readonly raw?: true
  /** True: traces do not show the value. */
  readonly masked?: true
}

export interface VariablesInput {
  readonly build: {
    readonly id: number
    readonly name: string
    readonly stage: string
    readonly ref: string
    readonly tag: boolean
    readonly sha: string
    /** Null becomes 40 zeros. */
    readonly beforeSha: string | null
    readonly manual: boolean
    /** The token of this build. */
    readonly token: string
    /** The URL to clone from, with credentials. */
    readonly repositoryUrl: string
    /** The environment, with its name expanded; null when the build has none. */
    readonly environment: {
      readonly name: string
      readonly slug: string
      readonly url: string | null
      readonly action: EnvironmentAction
    } | null
    readonly refProtected?: boolean
    /** Its number among the builds that `parallel` has made from a job. */
    readonly parallel?: { readonly index: number; readonly total: number } | null
    readonly startedAt?: Date | null
  }
  readonly commit: { readonly message: string; readonly author: string; readonly timestamp: string }
  readonly pipeline: {
    readonly id: number
    readonly source: PipelineSource
    readonly name?: string | null
    /** Its number in the project. */
    readonly iid?: number
    readonly createdAt?: Date
  }
  readonly project: {
    readonly id: number
    /** The last part of the path of the project. */
    readonly path: string
    /** The path of the user or group that owns the project. */
    readonly namespace: string
    readonly name: string
    readonly url: string
    readonly visibility: 'private' | 'internal' | 'public'
    readonly defaultBranch: string | null
    /** The path of the CI file. */
    readonly configPath?: string | null
  }
  readonly server: { readonly name: string; readonly version: string; readonly revision: string; readonly url: string }
  readonly runner: { readonly id: number; readonly description: string; readonly tags: readonly string[] } | null
  /** The user who started the build; null when a trigger token did. */
  readonly user: { readonly id: number; readonly email: string; readonly login: string; readonly name: string } | null
  /** The variables of the CI file, as planned. */
  readonly configVariables: readonly CiVariable[]
  /** The variables that earlier builds have reported. */
  readonly reportedVariables?: readonly CiVariable[]
  readonly projectVariables: readonly MaskableVariable[]
  readonly triggerVariables: readonly CiVariable[]
  /** Tokens that this service has signed for the build. */
  readonly idTokens?: readonly CiVariable[]
}

/**
 * Returns all variables of a build, each key once. A value may refer to variables before it. A later source wins: predefined, CI
 * file, reports of earlier builds, user, project, trigger, the environment, and last the signed tokens.
 */
export function buildVariables(input: VariablesInput): BuildVariable[] {
  const list = new Map<string, BuildVariable>()
  const put = (isPublic: boolean) => (entry: MaskableVariable) => {
    list.delete(entry.key)
    list.set(entry.key, { ...entry, public: isPublic })
  }
  predefined(input).forEach(put(true))
  secrets(input).map(mask).forEach(put(false))
  input.configVariables.forEach(put(true))
  // Not specified: their position. They are as public as the script that has written them.
  input.reportedVariables?.forEach(put(true))
  userVariables(input).forEach(put(true))
  input.projectVariables.forEach(put(false))
  // Decided: traces show the values that a caller gives, unless they show that a variable of the project has the same value.
  const masked = new Set(input.projectVariables.flatMap(({ value, masked: hides }) => (hides ? [value] : [])))
  input.triggerVariables.map(entry => (masked.has(entry.value) ? mask(entry) : entry)).forEach(put(false))
  environmentVariables(input).forEach(put(true))
  input.idTokens?.map(mask).forEach(put(false))
  return [...list.values()]
}

const mask = (entry: CiVariable): MaskableVariable => ({ ...entry, masked: true })

/** Variables that only builds have, not pipelines. */
const OF_BUILDS =
  /^CI_(BUILD_(ID|NAME|STAGE|TOKEN|REPO|MANUAL)|JOB_.*|NODE_.*|REPOSITORY_URL|ENVIRONMENT_.*|RUNNER_.*|PIPELINE_(ID|IID|URL|CREATED_AT))$/

/** The predefined variables that are known before a pipeline has builds. */
export function pipelineVariables(
  input: Pick<VariablesInput, 'commit' | 'project' | 'server' | 'user'> & PipelineFacts
) {
  const { ref, tag, sha, beforeSha, source } = input
  const build = {
    ...{ id: 0, name: '', stage: '', manual: false, token: '', repositoryUrl: '', environment: null },
    ...{ ref, tag, sha, beforeSha }
  }
  const all = buildVariables({
    ...input,
    build,
    pipeline: { id: 0, source },
    runner: null,
    configVariables: [],
    projectVariables: [],
    triggerVariables: []
  })
  return all.filter(({ key }) => !OF_BUILDS.test(key)).map(({ key, value }) => ({ key, value }))
}

interface PipelineFacts {
  readonly ref: string
  readonly tag: boolean
  readonly sha: string
  readonly beforeSha: string | null
  readonly source: VariablesInput['pipeline']['source']
}

type Values = Record<string, string | number | boolean | null | undefined>

/** The values as variables. Null, undefined and false are left out: such a variable is not set at all. */
function entries(values: Values): CiVariable[] {
  return Object.entries(values).flatMap(([key, value]) =>
    value === null || value === undefined || value === false ? [] : [{ key, value: String(value) }]
  )
}

function predefined(input: VariablesInput): CiVariable[] {
  const { pipeline, project, server, runner } = input
  const address = new URL(server.url)
  const protocol = address.protocol.replace(':', '')
  return [
    // Scripts for stock runners look at GITLAB_CI and GITLAB_USER_* to find out where they run.
    ...entries({ CI: true, GITLAB_CI: true, GITSTEAD_CI: true }),
    ...buildEntries(input),
    ...commitEntries(input),
    ...entries({
      CI_API_V4_URL: `${server.url}/api/v4`,
      CI_CONFIG_PATH: project.configPath,
      CI_PIPELINE_ID: pipeline.id,
      CI_PIPELINE_IID: pipeline.iid,
      CI_PIPELINE_URL: `${project.url}/pipelines/${pipeline.id}`,
      CI_PIPELINE_CREATED_AT: pipeline.createdAt?.toISOString(),
      CI_PIPELINE_NAME: pipeline.name,
      CI_PIPELINE_SOURCE: pipeline.source,
      CI_PROJECT_ID: project.id,
      CI_PROJECT_NAME: project.path,
      CI_PROJECT_TITLE: project.name,
      CI_PROJECT_PATH: `${project.namespace}/${project.path}`,
      CI_PROJECT_PATH_SLUG: slugify(`${project.namespace}/${project.path}`),
      CI_PROJECT_NAMESPACE: project.namespace,
      CI_PROJECT_URL: project.url,
      CI_PROJECT_VISIBILITY: project.visibility,
      CI_DEFAULT_BRANCH: project.defaultBranch,
      CI_SERVER: 'yes',
      CI_SERVER_NAME: server.name,
      CI_SERVER_VERSION: server.version,
      CI_SERVER_REVISION: server.revision,
      CI_SERVER_URL: server.url,
      CI_SERVER_PROTOCOL: protocol,
      CI_SERVER_HOST: address.hostname,
      CI_SERVER_PORT: address.port || (protocol === 'https' ? 443 : 80),
      CI_RUNNER_ID: runner?.id,
      CI_RUNNER_DESCRIPTION: runner?.description,
      CI_RUNNER_TAGS: runner?.tags.join(', ')
    })
  ]
}

function buildEntries(input: VariablesInput): CiVariable[] {
  const { build, pipeline, project } = input
  const triggered = pipeline.source === 'trigger'
  return entries({
    CI_BUILD_ID: build.id,
    CI_JOB_ID: build.id,
    CI_BUILD_NAME: build.name,
    CI_JOB_NAME: build.name,
    CI_JOB_NAME_SLUG: slugify(build.name),
    CI_JOB_URL: `${project.url}/builds/${build.id}`,
    CI_JOB_STARTED_AT: build.startedAt?.toISOString(),
    CI_BUILD_STAGE: build.stage,
    CI_JOB_STAGE: build.stage,
    CI_BUILD_TRIGGERED: triggered,
    CI_PIPELINE_TRIGGERED: triggered,
    CI_BUILD_MANUAL: build.manual,
    CI_JOB_MANUAL: build.manual,
    CI_NODE_INDEX: build.parallel?.index,
    CI_NODE_TOTAL: build.parallel?.total ?? 1
  })
}

function commitEntries({ build, commit }: VariablesInput): CiVariable[] {
  const [title = '', ...rest] = commit.message.split('\n')
  const beforeSha = build.beforeSha ?? '0'.repeat(40)
  return entries({
    CI_BUILD_REF: build.sha,
    CI_COMMIT_SHA: build.sha,
    CI_COMMIT_SHORT_SHA: build.sha.slice(0, 8),
    CI_BUILD_BEFORE_SHA: beforeSha,
    CI_COMMIT_BEFORE_SHA: beforeSha,
    CI_BUILD_REF_NAME: build.ref,
    CI_COMMIT_REF_NAME: build.ref,
    CI_BUILD_REF_SLUG: slugify(build.ref),
    CI_COMMIT_REF_SLUG: slugify(build.ref),
    CI_COMMIT_BRANCH: build.tag ? null : build.ref,
    CI_BUILD_TAG: build.tag ? build.ref : null,
    CI_COMMIT_TAG: build.tag ? build.ref : null,
    CI_COMMIT_REF_PROTECTED: build.refProtected === undefined ? null : String(build.refProtected),
    CI_COMMIT_MESSAGE: commit.message,
    CI_COMMIT_TITLE: title,
    CI_COMMIT_DESCRIPTION: rest.join('\n').replace(/^\n+/, ''),
    CI_COMMIT_AUTHOR: commit.author,
    CI_COMMIT_TIMESTAMP: commit.timestamp
  })
}

function secrets({ build }: VariablesInput): CiVariable[] {
  return entries({
    CI_BUILD_TOKEN: build.token,
    CI_JOB_TOKEN: build.token,
    CI_BUILD_REPO: build.repositoryUrl,
    CI_REPOSITORY_URL: build.repositoryUrl
  })
}

function userVariables({ user }: VariablesInput): CiVariable[] {
  return entries({
    GITLAB_USER_ID: user?.id,
    GITLAB_USER_EMAIL: user?.email,
    GITLAB_USER_LOGIN: user?.login,
    GITLAB_USER_NAME: user?.name
  })
}

function environmentVariables({ build: { environment } }: VariablesInput): CiVariable[] {
  return entries({
    CI_ENVIRONMENT_NAME: environment?.name,
    CI_ENVIRONMENT_SLUG: environment?.slug,
    CI_ENVIRONMENT_URL: environment?.url,
    CI_ENVIRONMENT_ACTION: environment?.action
  })
}

/** The text in lower case, with `-` for all characters except a-z and 0-9, at most 63 characters, without `-` at both ends. */
export function slugify(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '-')
    .slice(0, 63)
    .replace(/^-+|-+$/g, '')
}

/** Replaces `$X`, `${X}` and `%X%` once. An unknown name becomes an empty text. */
export function expand(text: string, variables: readonly CiVariable[]): string {
  const values = new Map(variables.map(({ key, value }) => [key, value]))
  return text.replace(
    /\$(?:([A-Za-z_]\w*)|\{(\w+)\})|%(\w+)%/g,
    (_, bare?: string, braced?: string, percent?: string) => values.get(bare ?? braced ?? percent ?? '') ?? ''
  )
}
