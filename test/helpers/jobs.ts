// Runs background jobs in the test's own process, with the handlers of the worker.
import { claimJobs, failJob, finishJobs, promoteJobs } from '../../src/queue/claim.js'
import { Tally } from '../../src/queue/history.js'
import { jobs, QUEUES } from '../../src/queue/jobs.js'
import { registerProcess, unregisterProcess } from '../../src/queue/processes.js'
import { perform } from '../../src/worker/handlers.js'

export interface RunJobsOptions {
  /** Also runs jobs that are delayed until this time. */
  until?: Date
}

/**
 * Runs all ready jobs and the jobs that they enqueue. Returns the names of the jobs, in the order in which they ran.
 */
export async function runJobs(options: RunJobsOptions = {}): Promise<string[]> {
  const processId = await registerProcess({ queues: QUEUES, concurrency: 1 })
  const tally = new Tally(processId)
  const ran: string[] = []
  try {
    for (;;) {
      if (options.until) await promoteJobs(options.until)
      const claimed = (await Promise.all(QUEUES.map(queue => claimJobs(queue, processId, 10)))).flat()
      if (claimed.length === 0) return ran
      for (const job of claimed) {
        ran.push(job.name)
        try {
          await perform(job, { signal: new AbortController().signal, processId })
          tally.add(jobs[job.name].queue, await finishJobs([job.id], processId), 0)
        } catch (error) {
          await failJob(job, processId, error)
          tally.add(jobs[job.name].queue, 1, 1)
        }
      }
    }
  } finally {
    await tally.write()
    await unregisterProcess(processId)
  }
}
