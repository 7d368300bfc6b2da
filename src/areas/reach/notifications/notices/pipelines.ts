import { may } from '../../../../access/authorize.js'
import { rows } from '../../../../db/connect/sql.js'
import { readCommit } from '../../../../git/objects/objects.js'
import type { Published } from '../../../ground/activity/events.js'
import { repositoryPath } from '../../../projects/projects/repositories.js'
import { withoutPipelines } from '../people.queries.js'
import { type Notice, pathOf, readProject, urlOf } from './notice.js'

/** The limit of builds that a mail names. */
const MOST_BUILDS = 20

/** The mail about the end of a pipeline; null for other changes. It has no actor, so that the user who started it gets mail too. */
export async function pipelineNotice(told: Published<'pipeline.changed'>): Promise<Notice<'pipeline'> | null> {
  const { pipeline } = told.event
  const { id, status, sha, ref } = pipeline
  if (status !== 'failed' && status !== 'success') return null
  const project = await readProject(pipeline.project_id)
  if (!project) return null
  return {
    event: status === 'failed' ? 'failed_pipeline' : 'success_pipeline',
    once: `${told.id} pipeline`,
    actorId: null,
    concerned: {
      project,
      unsubscribed: withoutPipelines(project.id),
      named: [['pipeline_user', pipeline.user_id]],
      isReadable: (of, actor) => may(actor, 'pipeline.read', of)
    },
    mail: { kind: 'pipeline' },
    facts: async () => {
      const [commit, failed] = await Promise.all([readCommit(repositoryPath(project), sha), failedBuilds(pipeline)])
      return {
        project: pathOf(project),
        url: urlOf(project, `pipelines/${id}`),
        id,
        status,
        ref,
        commit: sha.slice(0, 8),
        title: commit?.message.split('\n', 1)[0] ?? '',
        failed: failed.slice(0, MOST_BUILDS),
        failed_total: failed.length
      }
    }
  }
}

type Pipeline = Published<'pipeline.changed'>['event']['pipeline']

/** The builds that had failed when the pipeline ended: they may have been retried since. */
async function failedBuilds({ id, builds }: Pipeline): Promise<readonly string[]> {
  const failed = new Set(builds.filter(({ status }) => status === 'failed').map(build => build.id))
  if (failed.size === 0) return failedStatuses(id)
  const found = await rows<{ id: number; stage: string; name: string }>(
    `select id, stage, name from builds where pipeline_id = ? and not allow_failure order by id limit 2000`,
    [id]
  )
  const named = found.filter(build => failed.has(build.id)).map(({ stage, name }) => `${stage}: ${name}`)
  return [...named, ...(await failedStatuses(id))]
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
