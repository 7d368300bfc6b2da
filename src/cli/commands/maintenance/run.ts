import type { MaintenanceRun } from '../../../areas/upkeep/maintenance/maintenance.view.js'
import { BaseCommand } from '../../framework/base.js'
import { ExitCode } from '../../framework/failures.js'
import { Args, Flags } from '../../oclif.js'
import { runTasks } from '../../topics/run-tasks.js'

export default class MaintenanceRunCommand extends BaseCommand {
  static override summary = 'Run maintenance tasks, one after another, and print the record of each'
  static override description =
    'A task that is already running in the worker or in another command is skipped (exit code 6). The exit code is 1 if a ' +
    'task failed. A signal ends a run between two steps; the next run continues from there.'
  static override examples = [
    '<%= config.bin %> maintenance run expired_sessions old_jobs',
    '<%= config.bin %> maintenance run orphaned_files --dry-run',
    '<%= config.bin %> maintenance run --all --json'
  ]
  static override strict = false
  static override args = {
    task: Args.string({ description: 'name of a task, as `maintenance list` shows it; you can give several' })
  }
  static override flags = {
    all: Flags.boolean({ description: 'run every task' }),
    'dry-run': Flags.boolean({ description: 'show what would be done, and change nothing' })
  }

  async run(): Promise<{ runs: MaintenanceRun[]; running_already: string[] }> {
    const { argv, flags } = await this.parse(MaintenanceRunCommand)
    this.configure(flags)
    const named = argv.map(String)
    if (Boolean(flags.all) === named.length > 0)
      this.error('give the names of tasks, or --all for every task', { exit: ExitCode.usage })
    const result = await runTasks(flags.all ? 'all' : named, {
      dryRun: flags['dry-run'],
      // A person at a terminal sees each step. Mails from cron contain only the records.
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
  const said = dry_run ? `would process ${count}` : `processed ${count}`
  const why = error === null ? '' : `: ${error.split('\n', 1)[0]}`
  const line = `${task}: ${state}, ${said} in ${seconds.toFixed(1)} s${why}`
  // The notes of a dry run are its result. Print them here unless the terminal has shown them already.
  const lines = dry_run && !notesShown ? report.notes.map(note => `  ${note}`) : []
  return [line, ...lines].join('\n')
}
