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
  delayed: Integer('jobs that wait for their time'),
  running: Integer('jobs that run'),
  dead: Integer('jobs that have failed for good')
}

const Minute = Type.Object(
  {
    minute: Moment('when it began'),
    processed: Integer('tries that ended'),
    failed: Integer('those of them that failed')
  },
  { title: 'BackgroundMinute', description: 'What a queue did in one minute.' }
)

const Queue = Type.Object(
  {
    name: Text('the name of the queue'),
    paused: Flag('whether workers leave its jobs alone'),
    ...states,
    latency: Type.Number({ description: 'seconds that the oldest ready job has waited' }),
    processed_per_minute: Type.Number({ description: 'tries that ended, over the current minute and the one before' }),
    failed_per_minute: Type.Number({ description: 'those of them that failed' }),
    minutes: Type.Array(Minute, { description: 'the last hour, oldest first; the last one is under way' })
  },
  { title: 'BackgroundQueueOverview', description: 'A queue as the dashboard shows it.' }
)

/** A worker process in the metrics and the dashboard. */
export const Process = Type.Object(
  {
    hostname: Text('the machine'),
    pid: Integer('the number of the process there'),
    tag: Text('what the process is called'),
    started_at: Moment('when it began'),
    queues: Type.Array(Type.String(), { description: 'the queues that it works on' }),
    labels: Type.Array(Type.String(), { description: 'words that describe it' }),
    concurrency: Integer('jobs that it can run at once'),
    busy: Integer('jobs that it runs now')
  },
  { title: 'BackgroundProcess', description: 'A worker process.' }
)

const Failure = Type.Object(
  {
    id: IdOf('the job'),
    queue: Text('the name of its queue'),
    name: Text('what it does'),
    state: OneOf(['delayed', 'dead'], 'BackgroundFailureState', 'whether it is tried again'),
    attempts: Integer('tries that have begun'),
    run_at: Moment('when it may run'),
    failed_at: Moment('when its last try failed'),
    error: Text('the first 2,000 characters of the error'),
    payload: Type.Unknown({ description: 'null where it is longer than 4,000 bytes: the job itself has it' })
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
    started_at: Nullable(Moment('when it began')),
    hostname: Nullable(Text('the machine that runs it')),
    pid: Nullable(Integer('the number of the process there')),
    runner: Nullable(Text('what people call the outside runner that has it; null with the built-in one'))
  },
  { title: 'RunningBuild', description: 'A build that runs now.' }
)

const Hook = Type.Object(
  {
    id: IdOf('the hook'),
    receiver: Text('the URL that is called, without user, password and query'),
    project: Nullable(Text('the path of its project; null for a system hook')),
    failures: Integer('failed tries since the last success'),
    since: Nullable(Moment('when the oldest delivery that is lost or waits was tried first')),
    next_try_at: Nullable(Moment('when a delivery is tried next; null when none waits')),
    pending: Integer('deliveries that wait'),
    dead: Integer('deliveries that were given up'),
    event: Nullable(Text('the event of the oldest delivery that is lost or waits')),
    status: Nullable(Integer('the HTTP status that its last try got')),
    error: Nullable(Text('why its last try failed'))
  },
  { title: 'FailingHook', description: 'A hook whose receiver fails.' }
)

const TroubledMail = Type.Object(
  {
    id: IdOf('the delivery'),
    kind: Text('what the mail is about'),
    address: Text('who should get it'),
    state: Text('waiting, sending, or failed'),
    attempts: Integer('tries that have begun'),
    created_at: Moment('when it was made'),
    tried_at: Nullable(Moment('when its last try began')),
    error: Nullable(Text('why its last try failed'))
  },
  { title: 'TroubledMail', description: 'A mail to one recipient that did not go at once.' }
)

const Mail = Type.Object(
  {
    waiting: Integer('mails that wait or are on their way'),
    held: Integer('mails that come together at the end of the hour'),
    failed: Integer('mails of the last 30 days that were given up'),
    bounced: Integer('addresses that get no mail because their mailbox does not exist'),
    troubled: Type.Array(TroubledMail, {
      description: 'mails that wait after a failed try or were given up, at most 20'
    })
  },
  { title: 'MailQueue', description: 'How the mail goes.' }
)

const Totals = Type.Object(
  {
    processed: Integer('tries that ended, since the appliance was made'),
    failed: Integer('those of them that failed'),
    ...states
  },
  { title: 'BackgroundTotals', description: 'The figures of all queues together.' }
)

export const JobOverview = Type.Object(
  {
    at: Moment('when this was read'),
    queues: Type.Array(Queue, { description: 'all queues' }),
    processes: Type.Array(Process, { description: 'the worker processes that show life' }),
    failures: Type.Array(Failure, { description: 'the last failures, the newest first' }),
    builds: Type.Array(Build, { description: 'the builds that run now' }),
    hooks: Type.Array(Hook, { description: 'the hooks whose receiver fails, at most 20, the worst first' }),
    mail: described(Mail, 'how the mail goes'),
    totals: described(Totals, 'the figures of all queues together')
  },
  { title: 'BackgroundOverview', description: 'What the dashboard of background jobs shows.' }
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
