import { Args, Flags } from '@oclif/core'
import type { MaintenanceRun } from '../../../areas/maintenance/maintenance.view.js'
import { BaseCommand, ExitCode } from '../../base.js'

export default class MaintenanceRunCommand extends BaseCommand {
  static override summary = 'Run maintenance tasks, one after another, and print the record of each'
  static override description =
    'Exit code 6 when a task runs already, in the worker or in another command: it is left to that one. 1 when a task ' +
    'failed. A signal ends a run between two steps; the next one goes on from there.'
  static override examples = [
    '<%= config.bin %> maintenance run expired_sessions old_jobs',
    '<%= config.bin %> maintenance run orphaned_files --dry-run',
    '<%= config.bin %> maintenance run --all --json'
  ]
  static override strict = false
  static override args = { task: Args.string({ description: 'names as `maintenance list` shows them' }) }
  static override flags = {
    all: Flags.boolean({ description: 'every task' }),
    'dry-run': Flags.boolean({ description: 'only tell what would be done' })
  }

  async run(): Promise<{ runs: MaintenanceRun[]; running_already: string[] }> {
    const { argv, flags } = await this.parse(MaintenanceRunCommand)
    this.configure(flags)
    const named = argv.map(String)
    if (Boolean(flags.all) === named.length > 0)
      this.error('name tasks, or all of them by --all', { exit: ExitCode.usage })
    const { runTasks } = await import('../../run-tasks.js')
    const result = await runTasks(flags.all ? 'all' : named, {
      dryRun: flags['dry-run'],
      // Who sits before it sees what goes on; cron's mail has the records alone.
      onNote: process.stderr.isTTY && !this.jsonEnabled() ? text => process.stderr.write(`${text}\n`) : undefined,
      onRun: run => this.log(lineOf(run, process.stderr.isTTY)),
      onRunning: text => process.stderr.write(`gitstead: ${text}\n`)
    })
    if (result.running_already.length > 0) process.exitCode = ExitCode.running
    if (result.runs.some(({ state }) => state === 'failed')) process.exitCode = ExitCode.failed
    return result
  }
}

function lineOf(run: MaintenanceRun, notesShown: boolean): string {
  const { task, state, dry_run, count, report, error, started_at, finished_at } = run
  const seconds = ((finished_at?.getTime() ?? started_at.getTime()) - started_at.getTime()) / 1000
  const said = dry_run ? `would deal with ${count}` : `dealt with ${count}`
  const why = error === null ? '' : `: ${error.split('\n', 1)[0]}`
  const line = `${task}: ${state}, ${said} in ${seconds.toFixed(1)} s${why}`
  // What a dry run would do is its result, wherever it is printed.
  const lines = dry_run && !notesShown ? report.notes.map(note => `  ${note}`) : []
  return [line, ...lines].join('\n')
}
