import type { MaintenanceRun } from '../../../areas/upkeep/maintenance/maintenance.view.js'
import { BaseCommand } from '../../framework/base.js'
import { ExitCode } from '../../framework/failures.js'
import { Flags } from '../../oclif.js'
import { runTasks } from '../../topics/run-tasks.js'

const FIGURES = ['people', 'created', 'changed', 'blocked', 'unblocked'] as const

export default class LdapSync extends BaseCommand {
  static override summary = 'Bring the accounts of people from directories up to date now'
  static override description =
    'The worker does this every hour, as the maintenance task `ldap_sync`. Prints a line for each account that changes, except for names, rights and memberships, and for each entry that is left out. Nobody is blocked when a directory cannot be read to its end, or when more people are missing than `max_gone` allows (exit code 1). While another synchronization runs, the exit code is 6. With --json: {runs, running_already}.'
  static override examples = ['<%= config.bin %> ldap sync --dry-run', '<%= config.bin %> ldap sync --json']
  static override flags = {
    'dry-run': Flags.boolean({ description: 'show what would be done, and change no account' })
  }

  async run(): Promise<{ runs: MaintenanceRun[]; running_already: string[] }> {
    const { flags } = await this.parse(LdapSync)
    this.configure(flags)
    const result = await runTasks(['ldap_sync'], {
      dryRun: flags['dry-run'],
      onNote: text => this.log(text),
      onRun: run => this.log(lineOf(run)),
      onRunning: text => process.stderr.write(`gitstead: ${text}\n`)
    })
    if (result.running_already.length > 0) process.exitCode = ExitCode.running
    if (result.runs.some(({ state }) => state === 'failed')) process.exitCode = ExitCode.failed
    return result
  }
}

function lineOf({ state, error, report, dry_run }: MaintenanceRun): string {
  if (state === 'failed') return `failed: ${error?.split('\n', 1)[0]}`
  const figures = report as unknown as Readonly<Partial<Record<(typeof FIGURES)[number], number>>>
  return `${dry_run ? 'dry run: ' : ''}${FIGURES.map(name => `${figures[name] ?? 0} ${name}`).join(', ')}`
}
