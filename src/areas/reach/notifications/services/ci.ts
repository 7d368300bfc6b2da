// Mail of the services pipelines-email and builds-email.
import { readCommit } from '../../../../git/objects/objects.js'
import type { Published } from '../../../ground/activity/events.js'
import { repositoryPath } from '../../../projects/projects/repositories.js'
import { queueMail, type Recipient } from '../../mail/outbox.js'
import { pathOf, readProject, urlOf } from '../notices/notice.js'
import { pipelineNotices } from '../notices/pipelines.js'
import { addressOf } from '../people.queries.js'
import { mailingService, wantsSuccess } from './recipients.js'

/** An address that also gets this mail for another reason gets it only once. */
export async function mailPipeline(told: Published<'pipeline.changed'>): Promise<void> {
  const { pipeline } = told.event
  if (pipeline.status !== 'failed' && pipeline.status !== 'success') return
  const service = await mailingService(pipeline.project_id, 'pipelines-email')
  if (!service || (pipeline.status === 'success' && !wantsSuccess(service.properties))) return
  const [notice] = await pipelineNotices(told)
  if (!notice) return
  const { once, mail, facts, concerned } = notice
  const list = { projectId: concerned.project.id }
  await queueMail({ ...mail, once, facts: await facts(), list, recipients: service.recipients })
}

/** Not specified: builds that may fail. They cause no mail. */
export async function mailBuild(told: Published<'build.changed'>): Promise<void> {
  const { build } = told.event
  if ((build.status !== 'failed' && build.status !== 'success') || build.allow_failure) return
  const service = await mailingService(build.project_id, 'builds-email')
  if (!service || (build.status === 'success' && !wantsSuccess(service.properties))) return
  const project = await readProject(build.project_id)
  if (!project) return
  const pusher = service.properties.add_pusher ? await pusherOf(build.user_id) : []
  const commit = await readCommit(repositoryPath(project), build.sha)
  await queueMail({
    once: `${told.id} build`,
    kind: 'build',
    list: { projectId: project.id },
    recipients: [...service.recipients, ...pusher],
    facts: {
      project: pathOf(project),
      url: urlOf(project, `builds/${build.id}`),
      id: build.id,
      name: build.name,
      stage: build.stage,
      status: build.status,
      ref: build.ref,
      commit: build.sha.slice(0, 8),
      title: commit?.message.split('\n', 1)[0] ?? ''
    }
  })
}

async function pusherOf(userId: number | null): Promise<readonly Recipient[]> {
  const address = userId === null ? undefined : await addressOf(userId)
  return address === undefined ? [] : [{ userId, address, reason: 'pipeline_user' }]
}
