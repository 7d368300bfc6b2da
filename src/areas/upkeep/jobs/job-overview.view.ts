// Not specified: the record of the dashboard. Rates are per minute; latency is in seconds.
import { described, Flag, IdOf, Integer, Moment, Nullable, OneOf, Text } from '../../../lib/schema.js'
import { parseStored } from '../../../lib/stored-json.js'
import { type Static, Type } from '../../../lib/type.js'
import type { QueueOverview, QueuesOverview } from '../../../queue/overview.js'
import { receiverOf } from '../../../webhooks/url.js'
import type { RunningBuild } from '../../ci/builds/running.queries.js'
import type { FailingHook } from '../../ground/hooks/failing.queries.js'
import type { MailQueue } from '../../reach/mail/mail-queue.queries.js'

const states = {
  ready: Integer('jobs that wait for a worker'),
  delayed: Integer('jobs that are not due yet'),
  running: Integer('running jobs'),
  dead: Integer('jobs that have failed permanently')
}

const Minute = Type.Object(
  {
    minute: Moment('when the minute started'),
    processed: Integer('tries that ended'),
    failed: Integer('failed tries among these')
  },
  { title: 'BackgroundMinute', description: 'The work of a queue in one minute.' }
)

const Queue = Type.Object(
  {
    name: Text('the name of the queue'),
    paused: Flag('whether workers take no jobs of the queue'),
    ...states,
    latency: Type.Number({ description: 'seconds that the oldest ready job has waited' }),
    processed_per_minute: Type.Number({ description: 'tries that ended, over the current and the previous minute' }),
    failed_per_minute: Type.Number({ description: 'failed tries among these' }),
    minutes: Type.Array(Minute, { description: 'the last hour, oldest first; the last minute is not over yet' })
  },
  { title: 'BackgroundQueueOverview', description: 'A queue as the dashboard shows it.' }
)

/** A worker process in the metrics and the dashboard. */
export const Process = Type.Object(
  {
    hostname: Text('the machine'),
    pid: Integer('the process id on that machine'),
    tag: Text('the name of the process'),
    started_at: Moment('when it started'),
    queues: Type.Array(Type.String(), { description: 'the queues that it processes' }),
    labels: Type.Array(Type.String(), { description: 'labels of the process' }),
    concurrency: Integer('how many jobs it can run at once'),
    busy: Integer('how many jobs it runs now')
  },
  { title: 'BackgroundProcess', description: 'A worker process.' }
)

const Failure = Type.Object(
  {
    id: IdOf('the job'),
    queue: Text('the name of its queue'),
    name: Text('what it does'),
    state: OneOf(['delayed', 'dead'], 'BackgroundFailureState', 'whether it will be tried again'),
    attempts: Integer('tries that have started'),
    run_at: Moment('when it can run'),
    failed_at: Moment('when its last try failed'),
    error: Text('the first 2,000 characters of the error'),
    payload: Type.Unknown({ description: 'null when it is longer than 4,000 bytes; get the job for the whole payload' })
  },
  { title: 'BackgroundFailure', description: 'A job whose last try failed.' }
)

const Build = Type.Object(
  {
    id: IdOf('the build'),
    project_id: IdOf('its project'),
    project: Text('the path of its project'),
    name: Text('its name in the CI file'),
    stage: Text('the stage of the pipeline'),
    ref: Text('the branch or tag'),
    started_at: Nullable(Moment('when it started')),
    hostname: Nullable(Text('the machine that runs it')),
    pid: Nullable(Integer('the process id on that machine')),
    runner: Nullable(Text('the description of the runner that has it; null for the built-in runner'))
  },
  { title: 'RunningBuild', description: 'A running build.' }
)

const Hook = Type.Object(
  {
    id: IdOf('the hook'),
    receiver: Text('the URL of the receiver, without user, password and query'),
    project: Nullable(Text('the path of its project; null for a system hook')),
    failures: Integer('failed tries since the last success'),
    since: Nullable(Moment('when the oldest lost or pending delivery was first tried')),
    next_try_at: Nullable(Moment('when a delivery is tried next; null when no delivery is pending')),
    pending: Integer('pending deliveries'),
    dead: Integer('lost deliveries'),
    event: Nullable(Text('the event of the oldest lost or pending delivery')),
    status: Nullable(Integer('the HTTP status of its last try')),
    error: Nullable(Text('why its last try failed'))
  },
  { title: 'FailingHook', description: 'A hook whose receiver fails.' }
)

const TroubledMail = Type.Object(
  {
    id: IdOf('the delivery'),
    kind: Text('the kind of mail'),
    address: Text('the address of the recipient'),
    state: Text('waiting, sending, or failed'),
    attempts: Integer('tries that have started'),
    created_at: Moment('when it was created'),
    tried_at: Nullable(Moment('when its last try started')),
    error: Nullable(Text('why its last try failed'))
  },
  { title: 'TroubledMail', description: 'A mail to one recipient that could not be sent at once.' }
)

const Mail = Type.Object(
  {
    waiting: Integer('mails that are pending or being sent'),
    held: Integer('mails that are sent together at the end of the hour'),
    failed: Integer('mails of the last 30 days that were given up'),
    bounced: Integer('addresses that get no mail because their mailbox does not exist'),
    troubled: Type.Array(TroubledMail, {
      description: 'at most 20 mails that wait after a failed try or were given up'
    })
  },
  { title: 'MailQueue', description: 'The state of outgoing mail.' }
)

const Totals = Type.Object(
  {
    processed: Integer('tries that ended since the appliance was created'),
    failed: Integer('failed tries among these'),
    ...states
  },
  { title: 'BackgroundTotals', description: 'The totals of all queues.' }
)

export const JobOverview = Type.Object(
  {
    at: Moment('when the record was read'),
    queues: Type.Array(Queue, { description: 'all queues' }),
    processes: Type.Array(Process, { description: 'the live worker processes' }),
    failures: Type.Array(Failure, { description: 'the last failures, newest first' }),
    builds: Type.Array(Build, { description: 'the running builds' }),
    hooks: Type.Array(Hook, { description: 'at most 20 hooks whose receiver fails, the worst first' }),
    mail: described(Mail, 'the state of outgoing mail'),
    totals: described(Totals, 'the totals of all queues')
  },
  { title: 'BackgroundOverview', description: 'The contents of the dashboard of background jobs.' }
)
export type JobOverview = Static<typeof JobOverview>

interface OverviewReading extends QueuesOverview {
  readonly builds: readonly RunningBuild[]
  readonly hooks: readonly FailingHook[]
  readonly mail: MailQueue
  readonly at: Date
}

export const viewJobOverview = (found: OverviewReading): JobOverview => ({
  at: found.at,
  queues: found.queues.map(viewQueue),
  processes: found.processes.map(process => ({
    hostname: process.hostname,
    pid: process.pid,
    tag: process.tag,
    started_at: process.started_at,
    queues: process.queues,
    labels: process.labels,
    concurrency: process.concurrency,
    busy: process.busy
  })),
  failures: found.failures.map(failure => ({
    id: failure.id,
    queue: failure.queue,
    name: failure.name,
    state: failure.state,
    attempts: failure.attempts,
    run_at: failure.run_at,
    failed_at: failure.failed_at,
    error: failure.error,
    payload: failure.payload === null ? null : parseStored<unknown>(failure.payload, null)
  })),
  builds: found.builds.map(build => ({
    id: build.id,
    project_id: build.project_id,
    project: build.project,
    name: build.name,
    stage: build.stage,
    ref: build.ref,
    started_at: build.started_at,
    hostname: build.hostname,
    pid: build.pid,
    runner: build.runner
  })),
  hooks: found.hooks.map(hook => ({
    id: hook.id,
    receiver: receiverOf(hook.url),
    project: hook.project,
    failures: hook.failures,
    since: hook.since,
    next_try_at: hook.next_try_at,
    pending: hook.pending,
    dead: hook.dead,
    event: hook.event,
    status: hook.status,
    error: hook.error
  })),
  mail: {
    waiting: found.mail.waiting,
    held: found.mail.held,
    failed: found.mail.failed,
    bounced: found.mail.bounced,
    troubled: found.mail.troubled.map(mail => ({
      id: mail.id,
      kind: mail.kind,
      address: mail.address,
      state: mail.state,
      attempts: mail.attempts,
      created_at: mail.created_at,
      tried_at: mail.tried_at,
      error: mail.error
    }))
  },
  totals: {
    processed: found.totals.processed,
    failed: found.totals.failed,
    ready: found.totals.ready,
    delayed: found.totals.delayed,
    running: found.totals.running,
    dead: found.totals.dead
  }
})

const viewQueue = (queue: QueueOverview) => ({
  name: queue.name,
  paused: queue.paused,
  ready: queue.ready,
  delayed: queue.delayed,
  running: queue.running,
  dead: queue.dead,
  latency: queue.latency,
  processed_per_minute: round(queue.processed_per_minute),
  failed_per_minute: round(queue.failed_per_minute),
  minutes: queue.minutes.map(({ minute, processed, failed }) => ({ minute, processed, failed }))
})

const round = (rate: number) => Math.round(rate * 10) / 10
