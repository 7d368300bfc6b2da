// The document of a build for stock runners of the lines 0.x and 1.x.
import type { CiImage } from '../../../../ci/config-types.js'
import type { JobDescription } from '../job-description.js'
import { dependenciesOf, expiryOf } from './job-document.js'

export const buildDocument = (job: JobDescription) => ({
  id: job.id,
  project_id: job.project.id,
  project_name: job.project.name,
  name: job.name,
  stage: job.stage,
  ref: job.source.ref,
  sha: job.source.sha,
  before_sha: job.source.beforeSha,
  tag: job.source.tag,
  status: 'running',
  token: job.token,
  repo_url: job.source.url,
  allow_git_fetch: true,
  timeout: job.timeout,
  commands: commandsOf(job, 'script').join('\n'),
  variables: job.variables.map(({ key, value, public: shown }) => ({ key, value, public: shown, file: false })),
  options: optionsOf(job),
  // Contains only the needed builds, so `options` names none.
  depends_on_builds: dependenciesOf(job).map((build, index) => ({
    ...build,
    stage: job.dependencies[index]?.stage,
    ref: job.source.ref,
    tag: job.source.tag,
    sha: job.source.sha,
    status: 'success'
  })),
  credentials: []
})

const commandsOf = ({ steps }: JobDescription, name: 'script' | 'after_script') =>
  steps.find(step => step.name === name)?.commands ?? []

/** These runners know only the name of an image. */
const nameOf = (image: CiImage) => (typeof image === 'string' ? image : image.name)

function optionsOf(job: JobDescription) {
  const { image, services, artifacts, caches } = job
  // These runners support one cache.
  const [cache] = caches
  const afterScript = commandsOf(job, 'after_script')
  return {
    ...(image === null ? {} : { image: nameOf(image) }),
    ...(services.length === 0 ? {} : { services: services.map(nameOf) }),
    ...(afterScript.length === 0 ? {} : { after_script: afterScript }),
    ...(artifacts && {
      artifacts: {
        ...(artifacts.name === null ? {} : { name: artifacts.name }),
        untracked: artifacts.untracked,
        paths: artifacts.paths,
        when: artifacts.when,
        ...(artifacts.expireIn === null ? {} : { expire_in: expiryOf(artifacts) })
      }
    }),
    ...(cache && {
      cache: {
        ...(cache.key === null ? {} : { key: `${cache.key}-${cache.ending}` }),
        untracked: cache.untracked,
        paths: cache.paths
      }
    })
  }
}
