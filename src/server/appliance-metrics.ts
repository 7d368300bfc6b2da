// Metrics of the whole appliance for Prometheus: builds, jobs, deliveries, mails, disks, backups. A scrape never waits for
// counts of large tables. The labels are states, queues and folders, never names of users or projects.
import type { Gauge } from 'prom-client'
import { countEndedBuilds, countUnfinishedBuilds } from '../areas/ci/builds/build-counts.queries.js'
import { countMirrors } from '../areas/code/mirrors/mirrors.queries.js'
import { countDeliveries, countFailingHooks } from '../areas/ground/hooks/hooks.queries.js'
import { countBounces, countMails } from '../areas/reach/mail/mail-queue.queries.js'
import { lastGoodBackup } from '../areas/upkeep/backup/last-backup.js'
import { disksOfHome } from '../areas/upkeep/maintenance/disks.js'
import { paced } from '../lib/paced.js'
import { jobCounts } from '../queue/overview.js'

/** Counting a million rows in an index takes about 0.2 s; the count then runs every 40 s. */
const COUNTING = { share: 0.005, least: 5000 }

type MakeGauge = (name: string, help: string, labelNames?: string[]) => Gauge

/** Creates the gauges. Returns a function that updates them; it throws when the database does not answer. */
export function applianceMetrics(gauge: MakeGauge): () => Promise<void> {
  const builds = gauge('gitstead_builds', 'Builds, by status', ['status'])
  const jobs = gauge('gitstead_jobs', 'Jobs that are ready, delayed, running or dead, by queue', ['queue', 'state'])
  const deliveries = gauge('gitstead_hook_deliveries', 'Deliveries of hooks that are kept, by state', ['state'])
  const hooks = gauge('gitstead_hooks_failing', 'Hooks whose last delivery failed')
  const mirrors = gauge('gitstead_mirrors', 'Mirrors that are switched on, by the result of their last run', [
    'direction',
    'result'
  ])
  const mails = gauge('gitstead_mail_deliveries', 'Mails to one recipient each that are kept, by state', ['state'])
  const bounced = gauge('gitstead_mail_bounced', 'Addresses that get no mail because their mailbox does not exist')
  const free = gauge('gitstead_disk_free_bytes', 'Bytes that may still be written, by folder of the home', ['folder'])
  const size = gauge('gitstead_disk_size_bytes', 'Bytes of the disk, by folder of the home', ['folder'])
  const backup = gauge('gitstead_backup_age_seconds', 'Seconds since the last good backup; NaN when there is none')

  const readUnfinished = paced(countUnfinishedBuilds, COUNTING)
  const readEnded = paced(countEndedBuilds, COUNTING)
  const readDeliveries = paced(countDeliveries, COUNTING)
  const readHooks = paced(countFailingHooks, COUNTING)
  const readMirrors = paced(countMirrors, COUNTING)
  const readMails = paced(countMails, COUNTING)
  const readBounces = paced(countBounces, COUNTING)
  const readBackup = paced(lastGoodBackup, COUNTING)

  return async () => {
    for (const disk of disksOfHome()) {
      free.set({ folder: disk.name }, disk.free)
      size.set({ folder: disk.name }, disk.size)
    }
    const [unfinished, ended, byQueue, byState, failing, last, mailStates, bounces, ofMirrors] = await Promise.all([
      readUnfinished(),
      readEnded(),
      jobCounts(),
      readDeliveries(),
      readHooks(),
      readBackup(),
      readMails(),
      readBounces(),
      readMirrors()
    ])
    for (const [status, count] of [...unfinished, ...ended]) builds.set({ status }, count)
    for (const [state, count] of byState) deliveries.set({ state }, count)
    jobs.reset()
    for (const [queue, { oldest: _oldest, ...states }] of byQueue) {
      for (const [state, count] of Object.entries(states)) jobs.set({ queue, state }, count)
    }
    for (const { count, ...labels } of ofMirrors) mirrors.set(labels, count)
    for (const [state, count] of mailStates) mails.set({ state }, count)
    bounced.set(bounces)
    hooks.set(failing)
    backup.set(last === null ? Number.NaN : (Date.now() - last.made_at.getTime()) / 1000)
  }
}
