// The document of a build for stock runners from 9.0 on. Their decoder is strict: it needs numbers where it expects
// numbers, and text for the values of variables.

import type { CiArtifacts, CiImage } from '../../../../ci/config-types.js'
import type { BuildVariable } from '../../../../ci/variables.js'
import { isRefName } from '../../../../git/refs/refs.js'
import type { JobCache, JobDescription } from '../job-description.js'
import { REASONS } from './progress.js'

const ZEROS = '0'.repeat(40)

/** `info` is what the runner says about itself in its request. */
export const jobDocument = (job: JobDescription, info?: unknown) => ({
  id: job.id,
  token: job.token,
  allow_git_fetch: true,
  job_info: {
    id: job.id,
    name: job.name,
    stage: job.stage,
    project_id: job.project.id,
    project_name: job.project.name,
    project_full_path: job.project.path,
    pipeline_id: job.pipelineId
  },
  git_info: {
    repo_url: job.source.url,
    repo_object_format: 'sha1',
    ref: job.source.ref,
    sha: job.source.sha,
    before_sha: job.source.beforeSha || ZEROS,
    ref_type: job.source.tag ? 'tag' : 'branch',
    refspecs: refspecsOf(job),
    depth: depthOf(job)
  },
  runner_info: { timeout: job.timeout },
  variables: variablesOf(job.variables),
  steps: job.steps.map(step => ({
    name: step.name,
    script: step.commands,
    timeout: step.timeout,
    when: step.when,
    allow_failure: step.allowFailure
  })),
  image: job.image === null ? null : containerOf(job.image),
  services: job.services.map(containerOf),
  artifacts: artifactsOf(job, takesReports(info)),
  cache: job.caches.map(cacheOf),
  credentials: [],
  // The token of the running build opens the artifacts, because the token of the other build has expired.
  dependencies: dependenciesOf(job),
  features: { trace_sections: false, token_mask_prefixes: [], failure_reasons: REASONS }
})

function containerOf(image: CiImage) {
  if (typeof image === 'string') return { name: image }
  // Builds of earlier versions have no variables of services.
  const { name, alias, entrypoint, command, variables = [] } = image
  return {
    name,
    ...(alias !== null && { alias }),
    ...(entrypoint && { entrypoint }),
    ...(command && { command }),
    ...(variables.length > 0 && { variables: variablesOf(variables.map(each => ({ ...each, public: true }))) })
  }
}

/** The required artifacts of a build, with the token that opens them. */
export const dependenciesOf = ({ dependencies, token }: JobDescription) =>
  dependencies.map(({ id, name, artifacts_filename: filename, artifacts_size: size }) => ({
    id,
    name,
    token,
    artifacts_file: { filename: filename ?? 'artifacts.zip', size: Number(size) }
  }))

/** A runner masks the values of masked variables; very short values would mask common words. */
const variablesOf = (variables: readonly BuildVariable[]) =>
  variables.map(({ key, value, public: shown, raw = false, masked = false }) => ({
    key,
    value,
    public: shown,
    file: false,
    masked: masked && value.length >= 8,
    raw
  }))

/** Runners no longer read GIT_DEPTH themselves. */
function depthOf({ source, variables }: JobDescription): number {
  const wanted = variables.findLast(({ key }) => key === 'GIT_DEPTH')?.value
  return wanted !== undefined && /^\d{1,9}$/.test(wanted) ? Number(wanted) : source.depth
}

/**
 * Both the commit and the branch are fetched by the id of the commit: the branch may have moved or been deleted. The
 * whole history includes all branches and tags. A tag is fetched by its name, because git refuses a fetch that would
 * also bring it by its id, as it brings all tags of the commits that it fetches.
 */
function refspecsOf(job: JobDescription): string[] {
  const { sha, ref, tag, tagStands } = job.source
  const commit = `+${sha}:refs/pipelines/${job.pipelineId}`
  if (depthOf(job) === 0) return [commit, '+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*']
  if (tag) return tagStands ? [commit, `+refs/tags/${ref}:refs/tags/${ref}`] : [commit]
  const branch = `refs/remotes/origin/${ref}`
  return isRefName(branch) ? [commit, `+${sha}:${branch}`] : [commit]
}

/** Runners without support for reports would upload them as the archive, instead of the real one. */
function takesReports(info: unknown): boolean {
  const { features } = (info ?? {}) as { readonly features?: Record<string, unknown> | null }
  return features?.upload_multiple_artifacts === true && features.upload_raw_artifacts === true
}

/** Returns the time as the CI file writes it, such as `2 days`; empty without one. */
export const expiryOf = ({ expireIn, expiry = expireIn === null ? null : String(expireIn) }: CiArtifacts) =>
  expiry ?? ''

function artifactsOf({ artifacts }: JobDescription, withReports: boolean) {
  if (!artifacts) return []
  // Builds of earlier versions have no reports.
  const { name, untracked, paths, exclude, when, dotenv = [] } = artifacts
  const expire_in = expiryOf(artifacts)
  const archive = {
    name: name ?? '',
    untracked,
    paths,
    exclude,
    when,
    artifact_type: 'archive',
    artifact_format: 'zip'
  }
  const report = { name: '.env', untracked: false, paths: dotenv, exclude: [], when: 'always' }
  return [
    ...(dotenv.length === 0 || paths.length > 0 || untracked ? [{ ...archive, expire_in }] : []),
    ...(dotenv.length > 0 && withReports
      ? [{ ...report, artifact_type: 'dotenv', artifact_format: 'gzip', expire_in }]
      : [])
  ]
}

const cacheOf = ({ key, untracked, paths, policy, when, fallbackKeys, ending }: JobCache) => ({
  key: `${key ?? 'default'}-${ending}`,
  untracked,
  policy,
  paths,
  when,
  fallback_keys: fallbackKeys.map(each => `${each}-${ending}`)
})
